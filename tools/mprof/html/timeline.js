// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The timeline of an execution trace: a row for each thread, and arrows from a
// wakeup to the thread that it woke.
//
// A trace may have millions of changes. Each row has sums of the time in each
// state up to each change, so a pixel with many changes is drawn from two
// entries of a sorted array, whatever their number.

const ABSENT = 0, RUNNABLE = 1, RUNNING = 2, BLOCKED = 3, IN_CALL = 4;
const STATE_NAMES = ['not running', 'runnable', 'running', 'waiting', 'in a system call'];
const MIN_LANE = 24, MAX_LANE = 44, AXIS = 24, LABEL_WIDTH = 220, MAX_ARROWS = 500;

// The first index whose element is larger than the value.
function upperBound(array, value, count = array.length) {
  let low = 0, high = count;
  while (low < high) {
    const middle = low + high >>> 1;
    if (array[middle] <= value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The changes of one thread, in the order of time. The last entry is the end.
class Lane {
  constructor(thread, duration) {
    this.thread = thread;
    const s = new Stream(thread.changes), n = this.count = s.count;
    this.time = new Float64Array(n + 1);
    this.state = new Uint8Array(n + 1);
    this.reason = new Uint16Array(n + 1);
    this.stack = new Uint32Array(n + 1);
    // Time in the states until the change: running, waiting, runnable, in a call.
    this.sums = [0, 1, 2, 3].map(() => new Float64Array(n + 1));
    let time = 0, stack = 0;
    for (let i = 0; i < n; i++) {
      this.time[i] = time += s.next();
      const change = s.next();
      this.state[i] = change % 8;
      this.reason[i] = (change - change % 8) / 8;
      this.stack[i] = stack += s.signed();
    }
    this.time[n] = Math.max(duration, time);
    for (let i = 0; i < n; i++)
      for (let k = 0; k < 4; k++)
        this.sums[k][i + 1] = this.sums[k][i] +
            (Lane.order[k] === this.state[i] ? this.time[i + 1] - this.time[i] : 0);
  }

  // Returns the index of the change that holds at the time, or -1.
  at(time) {
    const i = upperBound(this.time, time, this.count) - 1;
    return i >= 0 && time <= this.time[this.count] ? i : -1;
  }

  // Stores the time in each state until a time. hint: an index that is not later.
  // Returns the index of the change that holds at the time.
  sumsUntil(time, sums, hint) {
    let low = hint, step = 1;
    while (low + step <= this.count && this.time[low + step] <= time) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low + step, this.count + 1);
    while (low + 1 < high) {
      const middle = low + high >>> 1;
      if (this.time[middle] <= time)
        low = middle;
      else
        high = middle;
    }
    for (let k = 0; k < 4; k++)
      sums[k] = this.sums[k][low];
    const k = low < this.count ? Lane.place[this.state[low]] : -1;
    if (k >= 0)
      sums[k] += Math.max(0, time - this.time[low]);
    return low;
  }

  name() {
    const {name, id} = this.thread;
    return (name ? name + ' ' : 'thread ') + 'G' + id;
  }
}
Lane.order = [RUNNING, BLOCKED, RUNNABLE, IN_CALL];
Lane.place = [-1, 2, 0, 1, 3]; // of a state in this order

class Trace {
  constructor(data) {
    Object.assign(this, {name: data.name, reasons: data.reasons, frames: data.frames,
      violations: data.violations});
    this.duration = Math.max(1, data.duration);
    this.lanes = data.threads.map(t => new Lane(t, this.duration));
    this.changes = this.lanes.reduce((sum, lane) => sum + lane.count, 0);
    this.readArrows(new Stream(data.arrows));
    const s = new Stream(data.heap);
    this.heapTime = new Float64Array(s.count);
    this.heap = new Float64Array(s.count);
    for (let i = 0, time = 0, value = 0; i < s.count; i++) {
      this.heapTime[i] = time += s.next();
      this.heap[i] = value += s.signed();
    }
  }

  // An arrow ends where the woken thread runs.
  readArrows(s) {
    const n = s.count;
    this.arrows = {count: n, time: new Float64Array(n), end: new Float64Array(n),
      from: new Uint32Array(n), to: new Uint32Array(n), stack: new Uint32Array(n),
      isCreate: new Uint8Array(n)};
    const a = this.arrows;
    this.arrowsTo = this.lanes.map(() => []);
    for (let i = 0, time = 0; i < n; i++) {
      a.time[i] = time += s.next();
      a.from[i] = s.next();
      const to = s.next();
      a.to[i] = (to - to % 2) / 2;
      a.isCreate[i] = to % 2;
      a.stack[i] = s.next();
      const lane = this.lanes[a.to[i]];
      let k = upperBound(lane.time, time, lane.count) - 1;
      while (k >= 0 && k < lane.count && lane.state[k] !== RUNNING &&
             lane.state[k] !== BLOCKED)
        k++;
      a.end[i] = k >= 0 && k < lane.count && lane.state[k] === RUNNING ?
          Math.max(time, lane.time[k]) : time;
      this.arrowsTo[a.to[i]].push(i);
    }
  }

  stackLines(node) {
    const lines = [];
    for (let n = node; n && lines.length < 64; n = this.frames[(n - 1) * 2])
      lines.push(this.frames[(n - 1) * 2 + 1]);
    return lines;
  }

  // The arrow that ended the wait which lasts until the time.
  wakerOf(laneIndex, time) {
    const {arrows} = this, list = this.arrowsTo[laneIndex];
    let low = 0, high = list.length;
    while (low < high) {
      const middle = low + high >>> 1;
      if (arrows.time[list[middle]] < time)
        low = middle + 1;
      else
        high = middle;
    }
    return low < list.length && arrows.time[list[low]] === time ? list[low] : -1;
  }
}

// The first lines of mprof trace top.
function traceSummary(trace) {
  let waits = 0, sum = 0;
  for (const lane of trace.lanes)
    for (let i = 0; i < lane.count; i++)
      if (lane.state[i] === BLOCKED || lane.state[i] === IN_CALL) {
        waits++;
        sum += lane.time[i + 1] - lane.time[i];
      }
  return `${trace.lanes.length} threads in ${(trace.duration / 1e9).toFixed(3)} s\n` +
      `${waits} waits, ${(sum / 1e9).toFixed(3)} s in total\n`;
}

function timeText(ns) {
  return quantity(ns, 'nanoseconds');
}

class TimelineView {
  constructor(app, data) {
    this.app = app;
    this.title = 'Timeline';
    this.trace = new Trace(data);
    this.from = 0;
    this.to = this.trace.duration;
    this.selected = null;
    this.laneHeight = MIN_LANE;
    this.details = h('div', {class: 'details', tabindex: 0, 'aria-label': 'Selected state'});
    this.picture = new Picture({
      class: 'timeline', tabindex: 0, role: 'application', 'aria-label': 'Timeline of threads. ' +
          'A and D move, W and S zoom, the arrow keys choose states, Escape shows all.',
      onwheel: e => this.wheel(e), onpointerdown: e => this.down(e),
      onpointermove: e => this.move(e), onpointerup: e => this.up(e),
      onpointerleave: () => this.leave(), ondblclick: () => this.zoomSelected(),
      onkeydown: e => this.key(e)
    }, (context, width, height) => this.draw(context, width, height), () => this.show());
    const {lanes, changes, arrows, duration, violations} = this.trace;
    this.space = h('div', {}, this.picture.canvas);
    this.box = h('div', {
      class: 'timeline-box', onscroll: () => this.picture.drawNow()
    }, this.space);
    new ResizeObserver(() => this.show()).observe(this.box);
    this.hint = h('span', {class: 'legend'}, 'Zoom in to see the arrows of wakeups.');
    this.element = h('div', {class: 'view fill'}, h('div', {class: 'bar-row'},
        h('button', {onclick: () => this.showSpan(0, duration)}, 'Show all'),
        [['run', 'running'], ['wait', 'waiting'], ['ready', 'runnable'], ['call', 'in a call']].map(
            ([name, text]) => h('span', {class: 'legend'}, h('span', {class: 'key ' + name}), text)),
        h('span', {class: 'legend'}, `${counted(lanes.length, 'thread')}, ` +
            `${counted(changes, 'change')}, ${counted(arrows.count, 'wakeup')} in ${timeText(duration)}`),
        this.hint, violations > 0 && h('span', {class: 'loss'}, 'the trace is damaged; a part is missing')),
        this.box, this.details);
    this.describe();
  }

  show() {
    const {lanes} = this.trace;
    const rows = height => this.top() + lanes.length * height + 8;
    const size = printing ? Math.min(rows(MIN_LANE), MAX_CANVAS) : this.box.clientHeight;
    const room = (size - this.top() - 8) / Math.max(1, lanes.length);
    this.laneHeight = Math.floor(Math.min(MAX_LANE, Math.max(MIN_LANE, room)));
    // The canvas stays in place while the rows scroll below the axis.
    this.picture.canvas.style.height = size + 'px';
    this.space.style.height = Math.max(size - 1, rows(this.laneHeight)) + 'px';
    this.picture.redraw();
  }

  search() {
    this.picture.redraw();
  }

  // "from" and "to" in nanoseconds; "lane" and "time" select a state.
  restore(wanted) {
    const from = Number(wanted.get('from') || 0), to = Number(wanted.get('to') || this.trace.duration);
    if (to > from)
      this.showSpan(from, to);
    const lane = this.trace.lanes[wanted.get('lane')];
    const i = lane && wanted.has('time') ? lane.at(Number(wanted.get('time'))) : -1;
    this.select(i >= 0 ? {lane: Number(wanted.get('lane')), i} : null);
  }

  state() {
    const s = this.selected;
    const isAll = this.from === 0 && this.to === this.trace.duration;
    return {
      from: isAll ? null : Math.round(this.from), to: isAll ? null : Math.round(this.to),
      lane: s ? s.lane : null, time: s ? this.trace.lanes[s.lane].time[s.i] : null
    };
  }

  heapHeight() {
    return this.trace.heap.length > 1 ? 48 : 0;
  }

  // --- drawing

  colours() {
    const colours = [css('--run'), css('--wait'), css('--ready'), css('--call')];
    this.textColours = [css('--on-run'), css('--text')];
    return colours;
  }

  x(time) {
    return LABEL_WIDTH + (time - this.from) / (this.to - this.from) * this.width;
  }

  scrolled() {
    return printing ? 0 : this.box.scrollTop;
  }

  // The height of what is above the rows.
  top() {
    return AXIS + this.heapHeight();
  }

  y(lane) {
    return this.top() + lane * this.laneHeight - this.scrolled();
  }

  // The numbers of the first and after the last row that can be seen.
  visibleLanes(height) {
    const first = Math.floor(this.scrolled() / this.laneHeight);
    const last = first + Math.ceil((height - this.top()) / this.laneHeight) + 1;
    return [first, Math.min(last, this.trace.lanes.length)];
  }

  timeAt(x) {
    return this.from + (x - LABEL_WIDTH) / this.width * (this.to - this.from);
  }

  draw(context, width, height) {
    this.width = Math.max(1, width - LABEL_WIDTH - 8);
    context.font = '12px ' + css('--font');
    context.textBaseline = 'middle';
    this.drawAxis(context, height);
    context.save();
    context.beginPath();
    context.rect(LABEL_WIDTH, 0, this.width, height);
    context.clip();
    this.drawHeap(context);
    const colours = this.colours();
    const perCharacter = context.measureText('abcdefgh_:').width / 10;
    const [first, last] = this.visibleLanes(height);
    context.beginPath();
    context.rect(LABEL_WIDTH, this.top(), this.width, height);
    context.clip();
    for (let i = first; i < last; i++)
      this.drawLane(context, this.trace.lanes[i], i, colours, perCharacter);
    this.drawArrows(context);
    this.drawSelected(context);
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
    const [from, unit] = scaleOf(Math.min(this.to, 59e9), 'nanoseconds');
    const digits = Math.max(0, Math.ceil(-Math.log10(step / from) - 1e-9));
    context.fillStyle = css('--faint');
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
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
    context.moveTo(LABEL_WIDTH, bottom);
    // The largest value of each pixel.
    for (let px = 0; px < this.width; px++) {
      const first = Math.max(0, upperBound(heapTime, this.timeAt(LABEL_WIDTH + px)) - 1);
      const last = upperBound(heapTime, this.timeAt(LABEL_WIDTH + px + 1));
      let value = heap[first];
      const stride = Math.max(1, Math.floor((last - first) / 64));
      for (let i = first; i < last; i += stride)
        value = Math.max(value, heap[i]);
      context.lineTo(LABEL_WIDTH + px, bottom - value / most * (size - 12));
    }
    context.lineTo(LABEL_WIDTH + this.width, bottom);
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
    if (last - first > this.width)
      this.drawDense(context, lane, y, height, colours);
    else
      this.drawSparse(context, lane, first, last, y, height, colours, perCharacter);
  }

  // Draws each pixel as a bar, with the share of each state.
  drawDense(context, lane, y, height, colours) {
    const scale = window.devicePixelRatio || 1;
    const columns = Math.round(this.width * scale), rows = Math.round(height * scale);
    const image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const packed = colours.map(c => parseInt('ff' + c.slice(5, 7) + c.slice(3, 5) + c.slice(1, 3), 16));
    const wide = (this.to - this.from) / columns;
    const before = [0, 0, 0, 0], after = [0, 0, 0, 0];
    let hint = lane.sumsUntil(this.from, before, 0);
    for (let px = 0; px < columns; px++) {
      hint = lane.sumsUntil(this.from + (px + 1) * wide, after, hint);
      let part = 0, row = rows;
      for (let k = 0; k < 4; k++) {
        part += (after[k] - before[k]) / wide;
        before[k] = after[k];
        // A little time is a pixel, too.
        const top = Math.floor(rows * (1 - Math.min(1, part)) + 0.98);
        for (; row > top; row--)
          pixels[(row - 1) * columns + px] = packed[k];
      }
    }
    this.scratch = this.scratch || document.createElement('canvas');
    this.scratch.width = columns;
    this.scratch.height = rows;
    this.scratch.getContext('2d').putImageData(image, 0, 0);
    context.drawImage(this.scratch, LABEL_WIDTH, y, this.width, height);
  }

  drawSparse(context, lane, first, last, y, height, colours, perCharacter) {
    for (let i = first; i < last; i++) {
      const k = Lane.order.indexOf(lane.state[i]);
      if (k < 0)
        continue;
      const x = Math.max(this.x(lane.time[i]), LABEL_WIDTH - 2);
      const end = Math.min(this.x(lane.time[i + 1]), LABEL_WIDTH + this.width + 2);
      const isThin = lane.state[i] === BLOCKED || lane.state[i] === RUNNABLE;
      const inset = isThin ? 4 : 0;
      context.fillStyle = colours[k];
      context.fillRect(x, y + inset, Math.max(end - x - (end - x > 3 ? 0.7 : 0), 0.6), height - 2 * inset);
      if (end - x < 50)
        continue;
      context.fillStyle = this.textColours[lane.state[i] === RUNNING ? 0 : 1];
      const text = fitText(context, this.stateText(lane, i), end - x - 8, perCharacter);
      context.fillText(text, x + 4, y + height / 2 + 0.5, end - x - 6);
    }
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
    const y = this.y(arrows.from[i]) + (down ? this.laneHeight - 5 : 4);
    const yEnd = this.y(arrows.to[i]) + (down ? 4 : this.laneHeight - 5);
    path.moveTo(x, y);
    path.lineTo(end, yEnd);
    const angle = Math.atan2(yEnd - y, end - x);
    for (const turn of [2.7, -2.7]) {
      path.moveTo(end, yEnd);
      path.lineTo(end + 6 * Math.cos(angle + turn), yEnd + 6 * Math.sin(angle + turn));
    }
  }

  drawSelected(context) {
    const s = this.selected;
    if (!s)
      return;
    const lane = this.trace.lanes[s.lane];
    const x = this.x(lane.time[s.i]), end = this.x(lane.time[s.i + 1]);
    context.strokeStyle = css('--accent');
    context.lineWidth = 2;
    context.strokeRect(x, this.y(s.lane) + 2, Math.max(end - x, 2), this.laneHeight - 5);
    const waker = this.trace.wakerOf(s.lane, lane.time[s.i + 1]);
    const woken = this.trace.wakerOf(s.lane, lane.time[s.i]);
    for (const arrow of [waker, woken])
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
    context.rect(0, this.top(), LABEL_WIDTH + this.width + 8, height);
    context.clip();
    for (let i = first; i < last; i++) {
      const name = this.trace.lanes[i].name(), y = this.y(i);
      context.fillStyle = css('--line');
      context.fillRect(0, y + this.laneHeight - 1, LABEL_WIDTH + this.width + 8, 1);
      context.fillStyle = pattern && pattern.test(name) ? css('--accent') : css('--text');
      const room = LABEL_WIDTH - 16;
      const text = name.length * perCharacter > room ?
          '\u2026' + name.slice(-Math.floor(room / perCharacter)) : name;
      context.fillText(text, 8, y + this.laneHeight / 2 - 1, room);
    }
    context.restore();
  }

  // --- moving and zooming

  showSpan(from, to) {
    const {duration} = this.trace;
    const span = Math.min(Math.max(to - from, 20), duration);
    from = Math.min(Math.max(from, 0), duration - span);
    this.from = from;
    this.to = from + span;
    this.picture.redraw();
    this.app.remember();
  }

  zoom(factor, time) {
    const part = (time - this.from) / (this.to - this.from);
    const span = (this.to - this.from) * factor;
    this.showSpan(time - part * span, time + (1 - part) * span);
  }

  // The wheel zooms, but scrolls if there are more rows than fit.
  wheel(event) {
    if (this.box.scrollHeight > this.box.clientHeight && !event.ctrlKey && !event.shiftKey)
      return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      this.pan((event.deltaX || event.deltaY) / this.width);
    else
      this.zoom(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) * 0.0022),
                this.timeAt(Math.max(LABEL_WIDTH, event.offsetX)));
  }

  pan(part) {
    const step = (this.to - this.from) * part;
    this.showSpan(this.from + step, this.to + step);
  }

  down(event) {
    this.drag = {x: event.offsetX, from: this.from, to: this.to, moved: false};
    this.picture.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (this.drag) {
      const dx = event.offsetX - this.drag.x;
      if (Math.abs(dx) > 3)
        this.drag.moved = true;
      if (this.drag.moved) {
        const step = -dx / this.width * (this.drag.to - this.drag.from);
        this.showSpan(this.drag.from + step, this.drag.to + step);
        tip.hide();
      }
      return;
    }
    const hit = this.hit(event);
    if (hit)
      tip.show(event.clientX, event.clientY, this.lines(hit).slice(0, 8));
    else
      tip.hide();
  }

  up(event) {
    const {drag} = this;
    this.drag = null;
    if (!drag || drag.moved)
      return;
    this.select(this.hit(event));
  }

  leave() {
    tip.hide();
  }

  hit(event) {
    const lane = Math.floor((event.offsetY - this.y(0)) / this.laneHeight);
    if (event.offsetY < this.top() || lane >= this.trace.lanes.length ||
        event.offsetX < LABEL_WIDTH)
      return null;
    const i = this.trace.lanes[lane].at(this.timeAt(event.offsetX));
    return i >= 0 && this.trace.lanes[lane].state[i] !== ABSENT ? {lane, i} : null;
  }

  select(hit) {
    this.selected = hit;
    if (hit) {
      const y = hit.lane * this.laneHeight, {box} = this;
      const room = box.clientHeight - this.top() - this.laneHeight;
      if (y < box.scrollTop || y > box.scrollTop + room)
        box.scrollTop = y - room / 2;
    }
    this.describe();
    this.picture.redraw();
    this.app.remember();
  }

  zoomSelected() {
    if (!this.selected)
      return;
    const lane = this.trace.lanes[this.selected.lane], {i} = this.selected;
    const size = Math.max(lane.time[i + 1] - lane.time[i], 100);
    this.showSpan(lane.time[i] - size * 0.5, lane.time[i + 1] + size * 0.5);
  }

  key(event) {
    const {key} = event;
    const middle = (this.from + this.to) / 2;
    const moves = {
      a: () => this.pan(-0.2), d: () => this.pan(0.2), w: () => this.zoom(0.7, middle),
      s: () => this.zoom(1 / 0.7, middle), '+': () => this.zoom(0.7, middle),
      '-': () => this.zoom(1 / 0.7, middle), Escape: () => this.showSpan(0, this.trace.duration),
      Home: () => this.showSpan(0, this.to - this.from),
      End: () => this.showSpan(this.trace.duration - (this.to - this.from), this.trace.duration),
      f: () => this.zoomSelected(), Enter: () => this.zoomSelected(),
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      ArrowDown: () => this.stepLane(1), ArrowUp: () => this.stepLane(-1)
    };
    if (!Object.hasOwn(moves, key))
      return;
    moves[key]();
    event.preventDefault();
    event.stopPropagation();
  }

  step(by) {
    const s = this.selected;
    if (!s) {
      this.stepLane(0);
      return;
    }
    const lane = this.trace.lanes[s.lane];
    let i = s.i + by;
    while (i >= 0 && i < lane.count && lane.state[i] === ABSENT)
      i += by;
    if (i < 0 || i >= lane.count)
      return;
    this.select({lane: s.lane, i});
    if (lane.time[i + 1] < this.from || lane.time[i] > this.to) {
      const span = this.to - this.from;
      this.showSpan(lane.time[i] - span / 2, lane.time[i] + span / 2);
    }
  }

  stepLane(by) {
    const s = this.selected, {lanes} = this.trace;
    const time = s ? lanes[s.lane].time[s.i] : (this.from + this.to) / 2;
    for (let lane = s ? s.lane + by : 0; lane >= 0 && lane < lanes.length; lane += by || 1) {
      const i = lanes[lane].at(Math.max(time, lanes[lane].time[0]));
      if (i >= 0) {
        this.select({lane, i});
        return;
      }
    }
  }

  // --- texts

  lines({lane, i}) {
    const {trace} = this, l = trace.lanes[lane];
    const reason = trace.reasons[l.reason[i]];
    const lines = [`${l.name()}: ${STATE_NAMES[l.state[i]]}${reason ? ' (' + reason + ')' : ''}`,
      `${timeText(l.time[i + 1] - l.time[i])}, from ${(l.time[i] / 1e9).toFixed(6)}\u00a0s`];
    const waker = trace.wakerOf(lane, l.time[i + 1]);
    if (waker >= 0 && l.state[i] === BLOCKED) {
      const {arrows} = trace;
      lines.push(`woken by ${trace.lanes[arrows.from[waker]].name()}` +
          (arrows.stack[waker] ? ' at ' + frameText(ownFrame(trace.stackLines(arrows.stack[waker]))) : ''));
    }
    return [...lines, ...trace.stackLines(l.stack[i]).map(f => '  ' + frameText(f))];
  }

  describe() {
    const lines = this.selected ? this.lines(this.selected) :
        ['Click a state to see its stack. The wheel (with Ctrl) or W and S zoom; drag or A and D move.'];
    fill(this.details, lines.map((l, i) => h('div', {
      class: !this.selected ? 'note' : i === 0 ? 'strong' : i > 1 && l.startsWith('  ') ? 'frame' : ''
    }, l)));
  }
}

// The innermost frame of the program itself, as mprof trace top shows it.
function ownFrame(frames) {
  return frames.find(f => /:\d+$/.test(f) && !/ \/usr\/\S*$/.test(f)) || frames[0] || '';
}

// A frame of a trace is "FUNCTION FILE:LINE".
function frameName(frame) {
  return frame.replace(/ \S*:\d+$/, '');
}

function frameText(frame) {
  const place = frame.match(/ (\S*:\d+)$/);
  return frameName(frame) + (place ? '  ' + baseName(place[1]) : '');
}
