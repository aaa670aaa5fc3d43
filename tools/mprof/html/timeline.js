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
const MIN_LANE = 24, MAX_LANE = 44, AXIS = 24, MAX_ARROWS = 500;
const SPAN_RANGE = 0, SPAN_REGION = 1, SPAN_LABEL = 2, SPAN_MESSAGE = 3;
const SPAN_NAMES = ['task', 'region', 'label', 'message'];
// Rows for the regions of one thread, and for tasks.
const MAX_DEPTH = 3, MAX_TASK_ROWS = 6;

// The kinds of waits, by their reasons, and their colours.
const WAITS = [
  ['wait', 'lock', /sync|lock|mutex|semacquire|semaphore/i],
  ['wait-cond', 'condition or join', /cond|chan|select|join|wait|futex/i],
  ['wait-io', 'input or output', /net|io\b|poll|read|write|file|socket|ipc|pipe/i],
  ['wait-sleep', 'sleep', /sleep|timer|paus/i],
  ['wait-other', 'other wait', /./]
];

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
    this.reason = new Uint32Array(n + 1);
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

  // The kinds of the waits.
  waitKinds(trace) {
    const kinds = new Set();
    for (let i = 0; i < this.count && kinds.size < WAITS.length; i++)
      if (this.state[i] === BLOCKED)
        kinds.add(trace.waits[this.reason[i]]);
    return [...kinds];
  }

  name() {
    const {name, id, kernel} = this.thread;
    return `${name || 'thread'} G${id}${kernel === null || kernel === id ? '' : ` (${kernel})`}`;
  }
}
Lane.order = [RUNNING, BLOCKED, RUNNABLE, IN_CALL];
Lane.place = [-1, 2, 0, 1, 3]; // of a state in this order

class Trace {
  constructor(data) {
    const frames = data.frames.map(f => typeof f === 'string' ? visible(f) : f);
    for (const thread of data.threads)
      thread.name = visible(thread.name);
    Object.assign(this, {name: data.name, reasons: data.reasons.map(visible), frames,
      violations: data.violations});
    this.duration = Math.max(1, data.duration);
    this.lanes = data.threads.map(t => new Lane(t, this.duration));
    this.changes = this.lanes.reduce((sum, lane) => sum + lane.count, 0);
    this.readArrows(new Stream(data.arrows));
    this.readSpans(new Stream(data.spans));
    // The kind of wait of each reason: its place in WAITS. A reason may end with the name of a lock.
    this.waits = data.reasons.map(r => r === '' ? WAITS.length - 1 :
      WAITS.findIndex(([, , p]) => p.test(r.replace(/ for .*/, ''))));
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

  // Rows of spans: those of a thread with one kind and depth, and those of tasks,
  // which may overlap.
  readSpans(s) {
    const rows = new Map(), ends = [];
    this.spanRows = [];
    for (let i = 0, begin = 0; i < s.count; i++) {
      const code = s.next(), thread = s.next();
      begin += s.next();
      const span = {begin, end: begin + s.next(), name: s.next(), value: s.next()}, kind = code % 4;
      let depth = (code - kind) / 4;
      if (kind === SPAN_RANGE) {
        depth = ends.findIndex(end => end <= begin);
        if (depth < 0)
          depth = Math.min(ends.length, MAX_TASK_ROWS - 1);
        ends[depth] = Math.max(ends[depth] || 0, span.end);
      }
      if (depth >= MAX_DEPTH && kind === SPAN_REGION)
        continue;
      const key = (depth * 4 + kind) * 2 ** 24 + (kind === SPAN_RANGE ? 0 : thread);
      let row = rows.get(key);
      if (!row) {
        row = {kind, depth, lane: kind === SPAN_RANGE ? -1 : thread, spans: []};
        rows.set(key, row);
        this.spanRows.push(row);
      }
      row.spans.push(span);
    }
    for (const row of this.spanRows)
      row.begin = Float64Array.from(row.spans, span => span.begin);
    this.spanRows.sort((a, b) => a.lane - b.lane || a.kind - b.kind || a.depth - b.depth);
  }

  // "url: /order/1"
  spanText({name, value}) {
    return this.reasons[name] + (value ? ': ' + this.reasons[value] : '');
  }

  // The frames of the program itself, if there are any.
  ownLines(node) {
    const lines = this.stackLines(node), own = lines.filter(isOwnFrame);
    return own.length ? own : lines;
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
    this.isWhole = true;
    this.trace = new Trace(data);
    this.from = 0;
    this.to = this.trace.duration;
    this.selected = this.range = null;
    this.laneHeight = MIN_LANE;
    this.labelWidth = 220;
    this.folded = new Set();
    this.makeRows();
    this.details = h('div', {class: 'details', tabindex: 0, 'aria-label': 'Selected state'});
    this.picture = new Picture({
      class: 'timeline', tabindex: 0, role: 'application', 'aria-label': 'Timeline of threads. ' +
          'A and D move, W and S zoom, the arrow keys choose states, Escape shows all.',
      onwheel: e => this.wheel(e), onpointerdown: e => this.down(e),
      onpointermove: e => this.move(e), onpointerup: e => this.up(e),
      onpointercancel: () => this.drag = null,
      onpointerleave: () => this.leave(), ondblclick: () => this.zoomSelected(),
      onkeydown: e => this.key(e)
    }, (context, width, height) => this.draw(context, width, height), () => this.show());
    const {lanes, changes, arrows, duration, violations} = this.trace;
    this.space = h('div', {}, this.picture.canvas);
    this.box = h('div', {
      class: 'timeline-box', onscroll: () => this.picture.drawNow()
    }, this.space);
    new ResizeObserver(() => this.show()).observe(this.box);
    this.map = new Picture({
      class: 'minimap', 'aria-hidden': 'true', onpointerdown: e => this.mapDown(e),
      onpointermove: e => e.buttons && this.mapMove(e)
    }, (context, width, height) => this.drawMap(context, width, height));
    this.hint = h('span', {class: 'legend'}, 'Zoom in to see the arrows of wakeups.');
    const used = new Set(lanes.flatMap(lane => lane.waitKinds(this.trace)));
    const keys = [['run', 'running'], ...WAITS.filter((_, k) => used.has(k)), ['ready', 'runnable'],
      ['call', 'in a call']];
    this.element = h('div', {class: 'view fill'}, h('div', {class: 'bar-row'},
        h('button', {onclick: () => this.showSpan(0, duration)}, 'Show all'),
        keys.map(([name, text]) => h('span', {class: 'legend'}, h('span', {class: 'key ' + name}), text)),
        h('span', {class: 'legend'}, `${counted(lanes.length, 'thread')}, ` +
            `${counted(changes, 'change')}, ${counted(arrows.count, 'wakeup')} in ${timeText(duration)}`),
        this.hint, violations > 0 && h('span', {class: 'loss'}, 'the trace is damaged; a part is missing')),
        this.map.canvas, this.box, this.details);
    this.describe();
  }

  // Tasks, and below each thread its regions, labels and messages.
  makeRows() {
    const {lanes, spanRows} = this.trace, of = lane => spanRows.filter(r => r.lane === lane);
    const by = new Map(spanRows.map(r => [r.lane, true]));
    this.rows = by.has(-1) ? of(-1) : [];
    this.rowOf = lanes.map((lane, i) => {
      const place = this.rows.length;
      this.rows.push({lane: i, hasMore: by.has(i)});
      if (by.has(i) && !this.folded.has(i))
        this.rows.push(...of(i));
      return place;
    });
  }

  show() {
    const {rows: all} = this;
    const rows = height => this.top() + all.length * height + 8;
    const size = printing ? Math.min(rows(MIN_LANE), MAX_CANVAS) : this.box.clientHeight;
    const room = (size - this.top() - 8) / Math.max(1, all.length);
    this.laneHeight = Math.floor(Math.min(MAX_LANE, Math.max(MIN_LANE, room)));
    // The canvas stays in place while the rows scroll below the axis.
    this.picture.canvas.style.height = size + 'px';
    this.space.style.height = Math.max(size - 1, rows(this.laneHeight)) + 'px';
    this.picture.redraw();
  }

  search() {
    this.hits = null;
    this.picture.redraw();
  }

  // Whether the search matches the stack or the reason of a state. What it matches
  // is kept for each stack: 1 if it matches, or else 2.
  isHit(lane, i) {
    const {pattern} = this.app, {trace} = this;
    this.hits = this.hits || {stacks: new Uint8Array(trace.frames.length / 2 + 1),
      reasons: trace.reasons.map(r => pattern.test(r))};
    const stack = lane.stack[i], {stacks, reasons} = this.hits;
    if (!stacks[stack])
      stacks[stack] = trace.ownLines(stack).some(l => pattern.test(l)) ? 1 : 2;
    return stacks[stack] === 1 || (lane.state[i] === BLOCKED && reasons[lane.reason[i]]);
  }

  // Selects the next state that the search matches, or the one before.
  stepHit(by) {
    if (!this.app.pattern)
      return;
    const {lanes} = this.trace, s = this.selected;
    const place = s ? [lanes[s.lane].time[s.i], s.lane] : [by > 0 ? -1 : Infinity, -1];
    const isAfter = (time, lane) => by * (time - place[0] || lane - place[1]) > 0;
    let best = null;
    lanes.forEach((lane, k) => {
      for (let i = Math.max(0, upperBound(lane.time, place[0], lane.count) - 1); i >= 0 && i < lane.count; i += by) {
        const time = lane.time[i];
        if (best && by * (time - lanes[best.lane].time[best.i]) >= 0)
          return;
        if (lane.state[i] !== ABSENT && isAfter(time, k) && this.isHit(lane, i)) {
          best = {lane: k, i};
          return;
        }
      }
    });
    if (best)
      this.showState(best);
  }

  // "from" and "to" in nanoseconds; "lane" and "time" select a state.
  restore(wanted) {
    const from = Number(wanted.get('from') || 0), to = Number(wanted.get('to') || this.trace.duration);
    if (to > from)
      this.showSpan(from, to);
    const lane = this.trace.lanes[wanted.get('lane')];
    const i = lane && wanted.has('time') ? lane.at(Number(wanted.get('time'))) : -1;
    this.select(i >= 0 ? {lane: Number(wanted.get('lane')), i} : null);
    const range = (wanted.get('range') || '').split('-').map(Number);
    if (range.length === 2 && range[0] < range[1])
      this.selectRange(range[0], range[1]);
  }

  state() {
    const s = this.selected;
    const isAll = this.from === 0 && this.to === this.trace.duration;
    return {
      from: isAll ? null : Math.round(this.from), to: isAll ? null : Math.round(this.to),
      lane: s ? s.lane : null, time: s ? this.trace.lanes[s.lane].time[s.i] : null,
      range: this.range ? this.range.map(Math.round).join('-') : null
    };
  }

  heapHeight() {
    return this.trace.heap.length > 1 ? 48 : 0;
  }

  // --- drawing

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
      if (this.rows[i].spans)
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
    context.moveTo(this.labelWidth, bottom);
    // The largest value of each pixel.
    for (let px = 0; px < this.width; px++) {
      const first = Math.max(0, upperBound(heapTime, this.timeAt(this.labelWidth + px)) - 1);
      const last = upperBound(heapTime, this.timeAt(this.labelWidth + px + 1));
      let value = heap[first];
      const stride = Math.max(1, Math.floor((last - first) / 64));
      for (let i = first; i < last; i += stride)
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
    if (last - first > this.width)
      this.drawDense(context, lane, y, height, colours);
    else
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
      if (lane.state[i] === BLOCKED && i < lane.count)
        return this.trace.waits[lane.reason[i]];
    return 0;
  }

  drawSparse(context, lane, first, last, y, height, colours, perCharacter) {
    for (let i = first; i < last; i++) {
      const k = Lane.order.indexOf(lane.state[i]);
      if (k < 0)
        continue;
      const x = Math.max(this.x(lane.time[i]), this.labelWidth - 2);
      const end = Math.min(this.x(lane.time[i + 1]), this.labelWidth + this.width + 2);
      const isThin = lane.state[i] === BLOCKED || lane.state[i] === RUNNABLE;
      const inset = isThin ? 4 : 0;
      context.globalAlpha = this.app.pattern && !this.isHit(lane, i) ? 0.3 : 1;
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

  drawSelected(context) {
    const s = this.selected;
    if (!s)
      return;
    const lane = this.trace.lanes[s.lane];
    const x = this.x(lane.time[s.i]), end = this.x(lane.time[s.i + 1]);
    context.strokeStyle = css('--accent');
    context.lineWidth = 2;
    context.strokeRect(x, this.laneY(s.lane) + 2, Math.max(end - x, 2), this.laneHeight - 5);
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
    context.rect(0, this.top(), this.labelWidth + this.width + 8, height);
    context.clip();
    for (let i = first; i < last; i++) {
      const row = this.rows[i], y = this.y(i), indent = row.spans && row.lane >= 0 ? 16 : 0;
      const mark = row.hasMore ? (this.folded.has(row.lane) ? '\u25b8 ' : '\u25be ') : '';
      const name = row.spans ? SPAN_NAMES[row.kind] + 's' : mark + this.trace.lanes[row.lane].name();
      context.fillStyle = css('--line');
      context.fillRect(0, y + this.laneHeight - 1, this.labelWidth + this.width + 8, 1);
      context.fillStyle = row.spans ? css('--faint') :
          pattern && pattern.test(name) ? css('--accent') : css('--text');
      const room = this.labelWidth - 16 - indent;
      const text = name.length * perCharacter > room ?
          '\u2026' + name.slice(-Math.floor(room / perCharacter)) : name;
      if (!row.depth)
        context.fillText(text, 8 + indent, y + this.laneHeight / 2 - 1, room);
    }
    context.restore();
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
    const {lanes, duration} = this.trace;
    const count = Math.max(60, Math.min(600, Math.floor(1e6 / Math.max(1, lanes.length))));
    const run = new Float64Array(count), before = [0, 0, 0, 0], after = [0, 0, 0, 0];
    for (const lane of lanes) {
      let hint = lane.count ? lane.sumsUntil(0, before, 0) : 0;
      for (let i = 0; i < count && lane.count; i++) {
        hint = lane.sumsUntil(duration * (i + 1) / count, after, hint);
        run[i] += after[0] - before[0];
        after.forEach((v, k) => before[k] = v);
      }
    }
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
    context.fillStyle = css('--faint');
    context.globalAlpha = 0.25;
    context.fillRect(left, 0, x - left, height);
    context.fillRect(end, 0, left + wide - end, height);
    context.globalAlpha = 1;
    context.strokeStyle = css('--accent');
    context.strokeRect(x + 0.5, 0.5, Math.max(2, end - x - 1), height - 1);
    context.font = '12px ' + css('--font');
    context.textBaseline = 'middle';
    context.fillText(left < 200 ? 'running' : `running, at most ${(most * count / duration).toFixed(1)}`, 8,
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
                this.timeAt(Math.max(this.labelWidth, event.offsetX)));
  }

  pan(part) {
    const step = (this.to - this.from) * part;
    this.showSpan(this.from + step, this.to + step);
  }

  down(event) {
    this.drag = {x: event.offsetX, from: this.from, to: this.to, moved: false, selects: event.shiftKey};
    this.picture.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (this.drag) {
      const dx = event.offsetX - this.drag.x;
      if (Math.abs(dx) > 3)
        this.drag.moved = true;
      if (this.drag.moved && this.drag.selects) {
        const times = [this.drag.x, event.offsetX].map(x => this.timeAt(Math.max(this.labelWidth, x)));
        this.selectRange(Math.min(...times), Math.max(...times));
      } else if (this.drag.moved) {
        const step = -dx / this.width * (this.drag.to - this.drag.from);
        this.showSpan(this.drag.from + step, this.drag.to + step);
        tip.hide();
      }
      return;
    }
    const hit = this.hit(event), span = hit ? null : this.spanAt(event);
    if (hit)
      tip.show(event.clientX, event.clientY, this.lines(hit).slice(0, 8));
    else if (span)
      tip.show(event.clientX, event.clientY, span);
    else
      tip.hide();
  }

  up(event) {
    const {drag} = this;
    this.drag = null;
    if (!drag || drag.moved)
      return;
    const place = Math.floor((event.offsetY - this.y(0)) / this.laneHeight), row = this.rows[place];
    if (event.offsetX < this.labelWidth && event.offsetY >= this.top() && row && row.hasMore) {
      this.fold(row.lane);
      return;
    }
    this.select(this.hit(event));
  }

  leave() {
    tip.hide();
  }

  rowAt(event) {
    const row = Math.floor((event.offsetY - this.y(0)) / this.laneHeight);
    return event.offsetY < this.top() || event.offsetX < this.labelWidth ? null : this.rows[row] || null;
  }

  hit(event) {
    const row = this.rowAt(event);
    if (!row || row.spans)
      return null;
    const lane = this.trace.lanes[row.lane], i = lane.at(this.timeAt(event.offsetX));
    return i >= 0 && lane.state[i] !== ABSENT ? {lane: row.lane, i} : null;
  }

  // The text of the span under the pointer.
  spanAt(event) {
    const row = this.rowAt(event);
    if (!row || !row.spans)
      return null;
    const i = upperBound(row.begin, this.timeAt(event.offsetX)) - 1, span = row.spans[i];
    const isNear = span && (row.kind === SPAN_MESSAGE ? event.offsetX - this.x(span.begin) < 60 :
        this.x(span.end) > event.offsetX - 2);
    return isNear ? [`${SPAN_NAMES[row.kind]} ${this.trace.spanText(span)}`,
      (row.kind === SPAN_MESSAGE ? '' : timeText(span.end - span.begin) + ', ') +
          `from ${(span.begin / 1e9).toFixed(6)}\u00a0s`] : null;
  }

  select(hit) {
    this.selected = hit;
    this.range = null;
    if (hit) {
      const y = this.rowOf[hit.lane] * this.laneHeight, {box} = this;
      const room = box.clientHeight - this.top() - this.laneHeight;
      if (y < box.scrollTop || y > box.scrollTop + room)
        box.scrollTop = y - room / 2;
    }
    this.describe();
    this.picture.redraw();
    this.app.remember();
  }

  // Selects a range of time, and shows what the threads did in it.
  selectRange(from, to) {
    this.selected = null;
    this.range = [Math.max(0, from), Math.min(to, this.trace.duration)];
    this.describe();
    this.picture.redraw();
    this.app.remember();
  }

  // Hides or shows the regions, labels and messages of a thread.
  fold(lane) {
    if (!this.folded.delete(lane))
      this.folded.add(lane);
    this.makeRows();
    this.show();
  }

  // Goes to the thread that ended the selected wait.
  followWaker() {
    const s = this.selected, {trace} = this;
    if (!s)
      return;
    const time = trace.lanes[s.lane].time[s.i + 1], waker = trace.wakerOf(s.lane, time);
    if (waker < 0)
      return;
    const lane = trace.arrows.from[waker], i = trace.lanes[lane].at(time);
    if (i >= 0)
      this.select({lane, i});
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
      f: () => this.zoomSelected(), g: () => this.followWaker(), n: () => this.stepHit(1), N: () => this.stepHit(-1),
      Backspace: () => this.selected && this.fold(this.selected.lane), Enter: () => this.zoomSelected(),
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
    this.showState({lane: s.lane, i});
  }

  // Selects a state, and moves to it.
  showState(hit) {
    const lane = this.trace.lanes[hit.lane], {i} = hit;
    this.select(hit);
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
      const {arrows} = trace, isLock = trace.waits[l.reason[i]] === 0;
      lines.push(`${isLock ? 'held and released by' : 'woken by'} ${trace.lanes[arrows.from[waker]].name()}` +
          (arrows.stack[waker] ? ' at ' + frameText(ownFrame(trace.stackLines(arrows.stack[waker]))) : '') +
          ' (g goes there)');
    }
    const stack = trace.stackLines(l.stack[i]), own = trace.ownLines(l.stack[i]);
    const hidden = stack.length - own.length;
    return [...lines, ...(this.showsAll ? stack : own).map(f => '  ' + frameText(f)),
      ...(hidden && !this.showsAll ? ['+ ' + counted(hidden, 'library frame')] : [])];
  }

  describe() {
    if (this.range) {
      fill(this.details, this.rangeElement());
      return;
    }
    const lines = this.selected ? this.lines(this.selected) :
        ['Click a state to see its stack. Shift and drag add up a range of time. The wheel (with Ctrl) or ' +
         'W and S zoom; drag or A and D move.'];
    fill(this.details, lines.map((l, i) => l.startsWith('+ ') ? h('button', {class: 'plain', onclick: () => {
      this.showsAll = true;
      this.describe();
    }}, l) : h('div', {
      class: !this.selected ? 'note' : i === 0 ? 'strong' : i > 1 && l.startsWith('  ') ? 'frame' : ''
    }, l)));
  }

  // The time in each state during the selected range, of all threads and of those
  // that ran or waited most.
  rangeElement() {
    const [from, to] = this.range, before = [0, 0, 0, 0], after = [0, 0, 0, 0], all = [0, 0, 0, 0];
    const rows = this.trace.lanes.filter(lane => lane.count).map(lane => {
      lane.sumsUntil(from, before, 0);
      lane.sumsUntil(to, after, 0);
      const sums = after.map((v, k) => v - before[k]);
      sums.forEach((v, k) => all[k] += v);
      return {name: lane.name(), sums};
    }).sort((a, b) => b.sums[0] - a.sums[0] || b.sums[1] - a.sums[1]);
    const row = (name, sums) => h('tr', {}, sums.map(v => h('td', {class: 'number'}, v ? timeText(v) : '')),
        h('td', {}, name));
    return [h('div', {class: 'strong'}, `${timeText(to - from)} from ${(from / 1e9).toFixed(6)}\u00a0s`),
      h('table', {}, h('thead', {}, h('tr', {}, ['running', 'waiting', 'runnable', 'in a call', 'thread'].map(
          (t, k) => h('th', {class: k < 4 ? 'number' : ''}, t)))),
        h('tbody', {}, row('all threads', all), rows.slice(0, 50).map(r => row(r.name, r.sums))))];
  }
}

// The innermost frame of the program itself, as mprof trace top shows it.
function ownFrame(frames) {
  return frames.find(isOwnFrame) || frames[0] || '';
}

function isOwnFrame(frame) {
  return /:\d+$/.test(frame) && !/ \/usr\/\S*$/.test(frame);
}

// A frame of a trace is "FUNCTION FILE:LINE".
function frameName(frame) {
  return frame.replace(/ \S*:\d+$/, '');
}

function frameText(frame) {
  const place = frame.match(/ (\S*:\d+)$/);
  return frameName(frame) + (place ? '  ' + baseName(place[1]) : '');
}
