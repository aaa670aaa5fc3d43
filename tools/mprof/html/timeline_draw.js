// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws the timeline of an execution trace: a row for each thread or group of
// threads, arrows from a wakeup to the thread that it woke, and the small map of
// the whole trace.

const MIN_LANE = 24, MAX_LANE = 44, AXIS = 24, MAX_ARROWS = 500, MAP_COLUMNS = 600;

class TimelineDrawing {
  heapHeight() {
    return this.trace.heap.length > 1 ? 48 : 0;
  }

  colours() {
    const colours = [css('--run'), css('--wait'), css('--ready'), css('--call')];
    colours.waits = WAITS.map(([name]) => css('--' + name));
    this.textColours = [css('--on-run'), css('--text')];
    return colours;
  }

  x(time) {
    return this.labelWidth + (time - this.from) / (this.to - this.from) * this.width;
  }

  scrolled() {
    return printing ? 0 : this.box.scrollTop;
  }

  // The height of what is above the rows.
  top() {
    return AXIS + this.heapHeight();
  }

  y(row) {
    return this.top() + row * this.laneHeight - this.scrolled();
  }

  laneY(lane) {
    return this.y(this.rowOf[lane]);
  }

  // The numbers of the first and after the last row that can be seen.
  visibleRows(height) {
    const first = Math.floor(this.scrolled() / this.laneHeight);
    const last = first + Math.ceil((height - this.top()) / this.laneHeight) + 1;
    return [first, Math.min(last, this.rows.length)];
  }

  timeAt(x) {
    return this.from + (x - this.labelWidth) / this.width * (this.to - this.from);
  }

  draw(context, width, height) {
    this.labelWidth = width < 700 ? 110 : 220;
    this.width = Math.max(1, width - this.labelWidth - 8);
    this.map.redraw();
    context.font = '12px ' + css('--font');
    context.textBaseline = 'middle';
    this.drawAxis(context, height);
    context.save();
    context.beginPath();
    context.rect(this.labelWidth, 0, this.width, height);
    context.clip();
    this.drawHeap(context);
    const colours = this.colours();
    const perCharacter = context.measureText('abcdefgh_:').width / 10;
    const [first, last] = this.visibleRows(height);
    context.beginPath();
    context.rect(this.labelWidth, this.top(), this.width, height);
    context.clip();
    for (let i = first; i < last; i++)
      if (this.rows[i].group)
        this.drawGroup(context, this.rows[i].group, i, colours);
      else if (this.rows[i].spans)
        this.drawSpans(context, this.rows[i], i, perCharacter);
      else
        this.drawLane(context, this.trace.lanes[this.rows[i].lane], i, colours, perCharacter);
    this.drawArrows(context);
    this.drawSelected(context);
    this.drawRange(context, height);
    context.restore();
    this.drawNames(context, perCharacter, first, last, height);
  }

  drawAxis(context, height) {
    const span = this.to - this.from;
    let step = 10 ** Math.floor(Math.log10(span / (this.width / 130)));
    for (const factor of [1, 2, 5, 10])
      if (step * factor * this.width / span >= 90) {
        step *= factor;
        break;
      }
    const {begin} = this.trace;
    const [from, unit] = scaleOf(Math.min(begin + this.to, 59e9), 'nanoseconds');
    const digits = Math.max(0, Math.ceil(-Math.log10(step / from) - 1e-9));
    context.fillStyle = css('--faint');
    for (let t = Math.ceil((begin + this.from) / step) * step; t <= begin + this.to; t += step) {
      const x = Math.round(this.x(t - begin)) + 0.5;
      context.globalAlpha = 0.35;
      context.fillRect(x, AXIS - 6, 1, height);
      context.globalAlpha = 1;
      context.fillText(`${(t / from).toFixed(digits)} ${unit}`, x + 4, 9);
    }
  }

  drawHeap(context) {
    const {heap, heapTime} = this.trace, size = this.heapHeight();
    if (!size)
      return;
    const most = heap.reduce((a, b) => Math.max(a, b), 1);
    const bottom = AXIS + size - 6;
    context.beginPath();
    context.moveTo(this.labelWidth, bottom);
    // The largest value of each pixel. Before the first value, none is known.
    for (let px = 0; px < this.width; px++) {
      const first = upperBound(heapTime, this.timeAt(this.labelWidth + px)) - 1;
      const last = upperBound(heapTime, this.timeAt(this.labelWidth + px + 1));
      let value = first < 0 ? 0 : heap[first];
      const stride = Math.max(1, Math.floor((last - first) / 64));
      for (let i = Math.max(0, first); i < last; i += stride)
        value = Math.max(value, heap[i]);
      context.lineTo(this.labelWidth + px, bottom - value / most * (size - 12));
    }
    context.lineTo(this.labelWidth + this.width, bottom);
    context.fillStyle = css('--part-colour');
    context.fill();
    this.heapMost = most;
  }

  drawLane(context, lane, index, colours, perCharacter) {
    const y = this.y(index) + 3, height = this.laneHeight - 7;
    const first = Math.max(0, lane.at(Math.max(this.from, lane.time[0] || 0)));
    const last = upperBound(lane.time, this.to, lane.count);
    if (!lane.count)
      return;
    if (last - first > this.width) {
      this.drawDense(context, lane, y, height, colours);
      this.drawHits(context, lane, first, last, y + height);
    } else
      this.drawSparse(context, lane, first, last, y, height, colours, perCharacter);
  }

  // Draws the spans of a row; of many in one pixel only the first.
  drawSpans(context, row, index, perCharacter) {
    const y = this.y(index) + 3, height = this.laneHeight - 7, {spans, begin, kind} = row;
    const isMessage = kind === SPAN_MESSAGE, end = this.labelWidth + this.width;
    const colour = css(['--call', '--part-colour', '--hit', '--accent'][kind]);
    context.textAlign = 'left';
    for (let i = Math.max(0, upperBound(begin, this.from) - 1); i < spans.length && begin[i] <= this.to;) {
      const x = Math.max(this.x(begin[i]), this.labelWidth - 2);
      const right = isMessage ? this.x(begin[i]) : Math.min(this.x(spans[i].end), end + 2);
      const next = i + 1 < spans.length ? this.x(begin[i + 1]) : end;
      if (right >= this.labelWidth) {
        context.fillStyle = colour;
        context.fillRect(x, y, isMessage ? 2 : Math.max(right - x - 0.7, 0.8), height);
        const room = (isMessage ? next : right) - x - 10;
        if (room > 24) {
          context.fillStyle = css('--text');
          context.fillText(fitText(context, this.trace.spanText(spans[i]), room, perCharacter), x + 5,
                           y + height / 2 + 0.5, room + 4);
        }
      }
      i = Math.max(i + 1, upperBound(begin, this.timeAt(Math.floor(x) + 1)) - 1);
    }
  }

  // Underlines the states that the search matches, where many are in a pixel.
  drawHits(context, lane, first, last, y) {
    if (!this.app.pattern)
      return;
    context.fillStyle = css('--accent');
    let right = 0;
    for (let i = first; i < last; i++) {
      const end = this.x(lane.time[i + 1]);
      if (end < right || lane.state[i] === ABSENT || !this.isHit(lane, i))
        continue;
      const x = Math.max(right, this.x(lane.time[i]));
      right = Math.max(end, x + 1);
      context.fillRect(x, y, right - x, 2);
    }
  }

  // Draws the share of the group's threads in each state.
  drawGroup(context, group, index, colours) {
    const y = this.y(index) + 3, height = this.laneHeight - 7, columns = Math.floor(this.width);
    const sums = columnSums(this.trace, group.lanes.map(i => this.trace.lanes[i]), this.from, this.to, columns);
    const bars = [[0, colours[0]], ...colours.waits.map((c, k) => [WAIT_CHANNEL + k, c]), [2, colours[2]],
      [3, colours[3]]];
    const used = new Float64Array(columns);
    for (const [channel, colour] of bars) {
      context.fillStyle = colour;
      for (let px = 0; px < columns; px++) {
        const part = sums[channel * columns + px] / group.lanes.length * height;
        if (part <= 0)
          continue;
        context.fillRect(this.labelWidth + px, y + height - used[px] - part, 1, part);
        used[px] += part;
      }
    }
  }

  // Draws each pixel as a bar, with the share of each state.
  drawDense(context, lane, y, height, colours) {
    const scale = window.devicePixelRatio || 1;
    const columns = Math.round(this.width * scale), rows = Math.round(height * scale);
    const image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const pack = c => parseInt('ff' + c.slice(5, 7) + c.slice(3, 5) + c.slice(1, 3), 16);
    const packed = colours.map(pack), waits = colours.waits.map(pack);
    const wide = (this.to - this.from) / columns;
    const before = [0, 0, 0, 0], after = [0, 0, 0, 0];
    let hint = lane.sumsUntil(this.from, before, 0);
    for (let px = 0; px < columns; px++) {
      const first = hint;
      hint = lane.sumsUntil(this.from + (px + 1) * wide, after, hint);
      let part = 0, row = rows;
      for (let k = 0; k < 4; k++) {
        part += (after[k] - before[k]) / wide;
        before[k] = after[k];
        // A little time is a pixel, too.
        const top = Math.floor(rows * (1 - Math.min(1, part)) + 0.98);
        // Different waits in a pixel have the colour of one of them.
        const colour = k === 1 && row > top ? waits[this.waitKind(lane, first, hint)] : packed[k];
        for (; row > top; row--)
          pixels[(row - 1) * columns + px] = colour;
      }
    }
    this.scratch = this.scratch || document.createElement('canvas');
    this.scratch.width = columns;
    this.scratch.height = rows;
    this.scratch.getContext('2d').putImageData(image, 0, 0);
    context.drawImage(this.scratch, this.labelWidth, y, this.width, height);
  }

  // The kind of a wait among the changes.
  waitKind(lane, first, last) {
    for (let i = Math.max(0, last); i >= first && i > last - 4; i--)
      if ((lane.state[i] === BLOCKED || lane.state[i] === MERGED) && i < lane.count)
        return this.trace.waits[lane.reason[i]];
    return 0;
  }

  drawSparse(context, lane, first, last, y, height, colours, perCharacter) {
    for (let i = first; i < last; i++) {
      const k = Lane.order.indexOf(lane.state[i]), merged = lane.merged.get(i);
      if (k < 0 && !merged)
        continue;
      const x = Math.max(this.x(lane.time[i]), this.labelWidth - 2);
      const end = Math.min(this.x(lane.time[i + 1]), this.labelWidth + this.width + 2);
      context.globalAlpha = this.app.pattern && !this.isHit(lane, i) ? 0.3 : 1;
      if (merged) {
        this.drawMerged(context, lane, i, x, end, y, height, colours);
        continue;
      }
      const isThin = lane.state[i] === BLOCKED || lane.state[i] === RUNNABLE;
      const inset = isThin ? 4 : 0;
      context.fillStyle = lane.state[i] === BLOCKED ? colours.waits[this.trace.waits[lane.reason[i]]] : colours[k];
      context.fillRect(x, y + inset, Math.max(end - x - (end - x > 3 ? 0.7 : 0), 0.6), height - 2 * inset);
      if (end - x < 50)
        continue;
      context.fillStyle = this.textColours[lane.state[i] === RUNNING ? 0 : 1];
      const text = fitText(context, this.stateText(lane, i), end - x - 8, perCharacter);
      context.fillText(text, x + 4, y + height / 2 + 0.5, end - x - 6);
    }
    context.globalAlpha = 1;
  }

  // Draws the shares of the states in a merged interval.
  drawMerged(context, lane, i, x, end, y, height, colours) {
    const whole = lane.time[i + 1] - lane.time[i];
    let bottom = y + height;
    lane.merged.get(i).sums.forEach((sum, k) => {
      const size = sum / whole * height;
      context.fillStyle = k === 1 ? colours.waits[this.trace.waits[lane.reason[i]]] : colours[k];
      context.fillRect(x, bottom -= size, Math.max(end - x, 0.6), size);
    });
  }

  stateText(lane, i) {
    const frames = this.trace.stackLines(lane.stack[i]);
    const own = ownFrame(frames);
    const reason = this.trace.reasons[lane.reason[i]];
    const what = lane.state[i] === BLOCKED && reason ? reason :
        lane.state[i] === RUNNING ? '' : STATE_NAMES[lane.state[i]];
    const where = own ? frameName(own) : '';
    return [what, where].filter(Boolean).join(': ') || STATE_NAMES[lane.state[i]];
  }

  // Draws the arrows if they can be told apart.
  drawArrows(context) {
    const {arrows} = this.trace;
    const first = upperBound(arrows.time, this.from - (this.to - this.from) * 0.02);
    const last = upperBound(arrows.time, this.to);
    this.hint.hidden = last - first <= MAX_ARROWS;
    if (last - first > MAX_ARROWS)
      return;
    const paths = [new Path2D(), new Path2D()], taken = new Set();
    const lanes = this.trace.lanes.length;
    for (let i = first; i < last; i++) {
      // One arrow for equal rows in three pixels.
      const place = (Math.round(this.x(arrows.time[i]) / 3) * lanes + arrows.from[i]) * lanes +
          arrows.to[i];
      if (!taken.has(place))
        this.addArrow(paths[arrows.isCreate[i]], i);
      taken.add(place);
    }
    context.lineWidth = 1;
    context.globalAlpha = last - first > 200 ? 0.4 : 0.8;
    context.strokeStyle = css('--arrow');
    context.stroke(paths[0]);
    context.setLineDash([3, 3]);
    context.stroke(paths[1]);
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  addArrow(path, i) {
    const {arrows} = this.trace;
    const down = arrows.to[i] > arrows.from[i];
    const x = this.x(arrows.time[i]), end = this.x(arrows.end[i]);
    const y = this.laneY(arrows.from[i]) + (down ? this.laneHeight - 5 : 4);
    const yEnd = this.laneY(arrows.to[i]) + (down ? 4 : this.laneHeight - 5);
    path.moveTo(x, y);
    path.lineTo(end, yEnd);
    const angle = Math.atan2(yEnd - y, end - x);
    for (const turn of [2.7, -2.7]) {
      path.moveTo(end, yEnd);
      path.lineTo(end + 6 * Math.cos(angle + turn), yEnd + 6 * Math.sin(angle + turn));
    }
  }

  // The selected state, and those that explain it.
  drawSelected(context) {
    const s = this.selected, {lanes} = this.trace;
    if (!s)
      return;
    context.strokeStyle = css('--accent');
    const arrows = [this.trace.wakerOf(s.lane, lanes[s.lane].time[s.i])];
    this.chain.forEach(({lane, i}, k) => {
      const l = lanes[lane], x = this.x(l.time[i]), end = this.x(l.time[i + 1]);
      context.lineWidth = k ? 1 : 2;
      context.strokeRect(x, this.laneY(lane) + 2, Math.max(end - x, 2), this.laneHeight - 5);
      if (l.isWait(i))
        arrows.push(this.trace.wakerOf(lane, l.time[i + 1]));
    });
    context.lineWidth = 2;
    for (const arrow of arrows)
      if (arrow >= 0) {
        const path = new Path2D();
        this.addArrow(path, arrow);
        context.stroke(path);
      }
  }

  drawNames(context, perCharacter, first, last, height) {
    const {pattern} = this.app;
    if (this.heapHeight()) {
      context.fillStyle = css('--faint');
      context.fillText('heap in use', 8, AXIS + 12);
      context.fillText('at most ' + quantity(this.heapMost || 0, 'bytes'), 8, AXIS + 28);
    }
    context.save();
    context.beginPath();
    context.rect(0, this.top(), this.labelWidth + this.width + 8, height);
    context.clip();
    for (let i = first; i < last; i++) {
      const row = this.rows[i], y = this.y(i);
      const indent = (row.spans && row.lane >= 0 ? 16 : 0) + (row.isInside ? 14 : 0);
      const name = this.rowName(row);
      context.fillStyle = css('--line');
      context.fillRect(0, y + this.laneHeight - 1, this.labelWidth + this.width + 8, 1);
      context.fillStyle = row.spans ? css('--faint') :
          pattern && pattern.test(name) ? css('--accent') : css('--text');
      const room = this.labelWidth - 16 - indent;
      // Without room, the number of the kernel's thread goes first.
      const brief = name.length * perCharacter > room ?
          name.replace(/ \(\d+\)$/, '').replace(/ threads?: /, '\u00d7 ') : name;
      const text = brief.length * perCharacter > room ?
          '\u2026' + brief.slice(-Math.floor(room / perCharacter)) : brief;
      if (!row.depth)
        context.fillText(text, 8 + indent, y + this.laneHeight / 2 - 1, room);
    }
    context.restore();
  }

  // "worker G7 (4711)", "regions", or "1,200 threads: worker"
  rowName(row) {
    if (row.spans)
      return SPAN_NAMES[row.kind] + 's';
    const isFolded = row.group ? !this.open.has(row.group) : this.folded.has(row.lane);
    const mark = row.hasMore ? (isFolded ? '\u25b8 ' : '\u25be ') : '';
    return mark + (row.group ? `${counted(row.group.lanes.length, 'thread')}: ${row.group.name}` :
        this.trace.lanes[row.lane].name());
  }

  // The selected range of time.
  drawRange(context, height) {
    if (!this.range)
      return;
    const [x, end] = this.range.map(t => this.x(t));
    context.fillStyle = css('--accent');
    context.globalAlpha = 0.12;
    context.fillRect(x, 0, end - x, height);
    context.globalAlpha = 1;
    context.fillRect(x, 0, 1, height);
    context.fillRect(end, 0, 1, height);
  }

  // --- the small map of the whole trace

  // The time in which threads run, for each column of the map.
  mapColumns() {
    if (this.columns)
      return this.columns;
    const {lanes, duration} = this.trace, count = MAP_COLUMNS;
    const run = columnSums(this.trace, lanes, 0, duration, count).subarray(0, count);
    const most = run.reduce((m, v) => Math.max(m, v), 1e-9);
    this.columns = {count, run, most};
    return this.columns;
  }

  drawMap(context, width, height) {
    const {count, run, most} = this.mapColumns(), {duration} = this.trace;
    const left = this.labelWidth, wide = Math.max(1, width - left - 8);
    context.fillStyle = css('--run');
    for (let i = 0; i < count; i++) {
      const size = run[i] / most * (height - 2);
      context.fillRect(left + i * wide / count, height - size, wide / count + 0.3, size);
    }
    const x = left + this.from / duration * wide, end = left + this.to / duration * wide;
    context.fillStyle = css('--accent');
    for (let i = 0; this.found && i < count; i++)
      if (this.found.columns[i])
        context.fillRect(left + i * wide / count, height - 5, wide / count + 0.3, 4);
    context.fillStyle = css('--faint');
    context.globalAlpha = 0.25;
    context.fillRect(left, 0, x - left, height);
    context.fillRect(end, 0, left + wide - end, height);
    context.globalAlpha = 1;
    context.strokeStyle = css('--accent');
    context.strokeRect(x + 0.5, 0.5, Math.max(2, end - x - 1), height - 1);
    context.font = '12px ' + css('--font');
    context.textBaseline = 'middle';
    context.fillText(left < 200 ? 'running' : `running, at most ${most.toFixed(1)}`, 8,
                     height / 2);
  }

  mapDown(event) {
    this.map.canvas.setPointerCapture(event.pointerId);
    this.mapMove(event);
  }

  mapMove(event) {
    const wide = Math.max(1, this.map.canvas.clientWidth - this.labelWidth - 8);
    const time = (event.offsetX - this.labelWidth) / wide * this.trace.duration, span = this.to - this.from;
    this.showSpan(time - span / 2, time + span / 2);
  }
}
