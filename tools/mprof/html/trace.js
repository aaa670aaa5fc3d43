// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An execution trace: the states of each thread, the wakeups, and the spans of
// the program.
//
// A trace may have millions of changes. Each thread has sums of the time in each
// state up to each change, so a pixel with many changes is drawn from two
// entries of a sorted array, whatever their number.

const ABSENT = 0, RUNNABLE = 1, RUNNING = 2, BLOCKED = 3, IN_CALL = 4, MERGED = 5;
const STATE_NAMES = ['not running', 'runnable', 'running', 'waiting', 'in a system call', 'short states'];
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
    // The merged intervals: their numbers, and their sums in this order.
    this.merged = new Map();
    let time = 0, stack = 0;
    for (let i = 0; i < n; i++) {
      this.time[i] = time += s.next();
      const change = s.next();
      this.state[i] = change % 8;
      this.reason[i] = (change - change % 8) / 8;
      this.stack[i] = stack += s.signed();
      if (this.state[i] === MERGED)
        this.merged.set(i, {count: s.next(), sums: [s.next(), s.next(), s.next(), 0]});
    }
    this.time[n] = Math.max(duration, time);
    for (let i = 0; i < n; i++) {
      const length = this.time[i + 1] - this.time[i], merged = this.merged.get(i);
      if (merged)
        merged.sums[3] = Math.max(0, length - merged.sums[0] - merged.sums[1] - merged.sums[2]);
      for (let k = 0; k < 4; k++)
        this.sums[k][i + 1] = this.sums[k][i] +
            (merged ? merged.sums[k] : Lane.order[k] === this.state[i] ? length : 0);
    }
  }

  // Returns the index of the change that holds at the time, or -1.
  at(time) {
    const i = upperBound(this.time, time, this.count) - 1;
    return i >= 0 && time <= this.time[this.count] ? i : -1;
  }

  // Returns whether the thread waits, as mprof trace top counts waits.
  isWait(i) {
    return this.state[i] === BLOCKED || this.state[i] === IN_CALL;
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
    const part = Math.max(0, time - this.time[low]);
    const k = low < this.count ? Lane.place[this.state[low]] : -1;
    if (k >= 0)
      sums[k] += part;
    else if (low < this.count && this.state[low] === MERGED)
      this.merged.get(low).sums.forEach((sum, i) =>
        sums[i] += sum * Math.min(1, part / (this.time[low + 1] - this.time[low])));
    return low;
  }

  // The kinds of the waits.
  waitKinds(trace) {
    const kinds = new Set();
    for (let i = 0; i < this.count && kinds.size < WAITS.length; i++)
      if (this.state[i] === BLOCKED || this.state[i] === MERGED)
        kinds.add(trace.waits[this.reason[i]]);
    return [...kinds];
  }

  name() {
    const {name, id, kernel} = this.thread;
    return `${name || 'thread'} G${id}${kernel === null || kernel === id ? '' : ` (${kernel})`}`;
  }
}
Lane.order = [RUNNING, BLOCKED, RUNNABLE, IN_CALL];
Lane.place = [-1, 2, 0, 1, 3, -1]; // of a state in this order

class Trace {
  constructor(data) {
    const steps = this.read(data);
    while (!steps.next().done);
  }

  // Returns a trace that is read when its steps are done.
  static begin(data) {
    const trace = Object.create(Trace.prototype);
    trace.steps = trace.read(data);
    return trace;
  }

  *read(data) {
    const frames = data.frames.map(f => typeof f === 'string' ? visible(f) : f);
    for (const thread of data.threads)
      thread.name = visible(thread.name);
    // A reason is a text, or [text, lock].
    const texts = data.reasons.map(r => Array.isArray(r) ? r[0] : r);
    Object.assign(this, {name: data.name, reasons: texts.map(visible), frames,
      violations: data.violations, slowest: data.slowest || null, begin: data.begin, whole: data.whole, shortest: data.shortest,
      locks: data.reasons.map(r => Array.isArray(r) ? visible(r[1]) : '')});
    this.duration = Math.max(1, data.duration);
    this.lanes = [];
    for (const thread of data.threads) {
      yield;
      this.lanes.push(new Lane(thread, this.duration));
    }
    this.changes = this.lanes.reduce((sum, lane) => sum + lane.count, 0);
    yield;
    this.readArrows(new Stream(data.arrows));
    yield;
    this.readSpans(new Stream(data.spans));
    // The kind of wait of each reason: its place in WAITS.
    this.waits = texts.map(r => r === '' ? WAITS.length - 1 : WAITS.findIndex(([, , p]) => p.test(r)));
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
             lane.state[k] !== BLOCKED && lane.state[k] !== MERGED)
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

  // A time since the begin of the trace, of which the page may have a part.
  moment(time) {
    return ((this.begin + time) / 1e9).toFixed(6) + '\u00a0s';
  }

  // Names what a thread does in the state: "waiting (sync)".
  stateName(lane, i) {
    const merged = lane.merged.get(i), reason = this.reasons[lane.reason[i]];
    return merged ? `${counted(merged.count, 'state')} shorter than ${timeText(this.shortest)}` :
        STATE_NAMES[lane.state[i]] + (reason ? ` (${reason})` : '');
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

  // The state that explains a state, or null: for a wait, what the thread did that
  // ended it, and otherwise the thread's wait before.
  causeOf({lane, i}) {
    const l = this.lanes[lane];
    if (l.isWait(i)) {
      const time = l.time[i + 1], waker = this.wakerOf(lane, time);
      const from = waker < 0 ? -1 : this.arrows.from[waker];
      const at = from < 0 ? -1 : this.lanes[from].at(time);
      return at >= 0 && from !== lane ? {lane: from, i: at} : null;
    }
    for (let k = i - 1; k >= 0 && l.state[k] !== ABSENT; k--)
      if (l.state[k] === BLOCKED)
        return {lane, i: k};
    return null;
  }

  // The states that explain a wait, as long as they are not before it.
  chainOf(state) {
    const chain = [state], begin = this.lanes[state.lane].time[state.i];
    while (chain.length < 12) {
      const next = this.causeOf(chain[chain.length - 1]);
      if (!next || this.lanes[next.lane].time[next.i + 1] <= begin ||
          chain.some(s => s.lane === next.lane && s.i === next.i))
        break;
      chain.push(next);
    }
    return chain;
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
      if (lane.isWait(i)) {
        waits++;
        sum += lane.time[i + 1] - lane.time[i];
      }
  return `${trace.lanes.length} threads in ${(trace.duration / 1e9).toFixed(3)} s\n` +
      `${waits} waits, ${(sum / 1e9).toFixed(3)} s in total\n`;
}

// Names the reason of a wait. The trace has one for conditions and joins.
function waitWord(reason, frames) {
  if (reason === 'cond')
    return frames.some(f => /\bjoin\b|pthread_(timed|try)?join/.test(f)) ? 'join' : 'condition or join';
  return reason === 'sync' ? 'lock' : reason;
}

// A part of the time of a task: "97 % waiting for cache in shop::look, held by main G1 in main".
function partText({ns, isWait, kind, lock, in: place, held}, length) {
  const within = name => name ? ' in ' + shortenName(visible(name), 34) : '';
  const what = lock ? 'waiting for ' + shortenName(visible(lock), 34) :
      isWait ? `waiting (${waitWord(visible(kind), [])})` : visible(kind) || 'no thread worked for it';
  return share(ns, length) + ' ' + what + within(place) +
      (held ? `, held by ${shortenName(visible(held.thread), 34)}${within(held.in)}` : '');
}

// The longest wait of each stack of a trace, in the order of their lengths.
function longestWaits(trace, count) {
  const longest = new Float64Array(trace.frames.length / 2 + 1);
  const lanes = new Int32Array(longest.length), states = lanes.slice();
  trace.lanes.forEach((lane, index) => {
    for (let i = 0; i < lane.count; i++) {
      if (lane.state[i] !== BLOCKED)
        continue;
      const time = lane.time[i + 1] - lane.time[i], stack = lane.stack[i];
      if (time <= longest[stack])
        continue;
      longest[stack] = time;
      lanes[stack] = index;
      states[stack] = i;
    }
  });
  return [...longest.keys()].filter(s => longest[s] > 0).sort((a, b) => longest[b] - longest[a])
      .slice(0, count).map(s => {
        const lane = trace.lanes[lanes[s]], i = states[s];
        return {time: longest[s], lane: lanes[s], i, from: lane.time[i], text: waitText(trace, lane, i)};
      });
}

// "lock cache in shop::look"
function waitText(trace, lane, i) {
  const lines = trace.stackLines(lane.stack[i]), own = ownFrame(lines), lock = trace.locks[lane.reason[i]];
  const what = waitWord(trace.reasons[lane.reason[i]], lines) + (lock && ' ' + shortenName(lock, 34));
  return [what, own && shortenName(frameName(own), 34)].filter(Boolean).join(' in ');
}

// Who held the lock of a wait last, or who ended another wait, and for what that thread
// had itself waited meanwhile: "ended by look G2 in look shop.cpp:9, which waited 1.20 ms:
// lock cache in shop::look, last held by main G1 in main shop.cpp:20".
function chainText(trace, {lane, i}) {
  const texts = [], isLock = s => trace.waits[trace.lanes[s.lane].reason[s.i]] === 0;
  let [waiting, ...causes] = trace.chainOf({lane, i});
  for (const cause of causes) {
    const at = trace.lanes[cause.lane], {name, id} = at.thread;
    if (cause.lane !== waiting.lane) {
      const {time} = trace.lanes[waiting.lane];
      const place = ownFrame(trace.stackLines(trace.arrows.stack[trace.wakerOf(waiting.lane, time[waiting.i + 1])]));
      const [, file] = frameText(place).split('  ');
      texts.push(`${isLock(waiting) ? 'last held' : 'ended'} by ${shortenName(name, 24) || 'thread'} G${id}` +
          (place ? ` in ${shortenName(frameName(place), 30)}` : '') + (file ? ' ' + file : ''));
      if (isLock(waiting))
        break;
    } else if (at.isWait(cause.i)) {
      texts.push(`which waited ${timeText(at.time[cause.i + 1] - at.time[cause.i])}: ${waitText(trace, at, cause.i)}`);
    }
    waiting = cause;
  }
  return texts.slice(0, 3).join(', ');
}

function timeText(ns) {
  return quantity(ns, 'nanoseconds');
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
