// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The timeline of an execution trace: the mouse, the keys, and the texts about
// the selected state or range.

class TimelineView extends TimelineDrawing {
  constructor(app, trace) {
    super();
    this.app = app;
    this.title = 'Timeline';
    this.isWhole = true;
    this.trace = trace;
    this.from = 0;
    this.to = this.trace.duration;
    this.selected = this.range = null;
    this.chain = [];
    this.searched = null;
    this.trail = []; // the states from which the key g came here
    this.laneHeight = MIN_LANE;
    this.labelWidth = 220;
    this.folded = new Set();
    this.open = new Set();
    this.groups = groupsOf(this.trace.lanes);
    this.makeRows();
    this.details = h('div', {class: 'details', tabindex: 0, role: 'region', 'aria-label': 'Selected state'});
    this.picture = new Picture({
      class: 'timeline', tabindex: 0, role: 'application', 'aria-label': 'Timeline of threads. ' +
          'A and D move, W and S zoom, the arrow keys choose states, T chooses tasks, G follows a wait to its cause, H folds ' +
          'the rows of a thread or group, Escape shows all.',
      onwheel: e => this.wheel(e), onpointerdown: e => this.down(e),
      onpointermove: e => this.move(e), onpointerup: e => this.up(e),
      onpointercancel: () => this.drag = null,
      onpointerleave: () => this.leave(), ondblclick: () => this.zoomSelected(),
      onkeydown: e => this.key(e)
    }, (context, width, height) => this.draw(context, width, height), () => this.show());
    const {lanes, changes, arrows, duration, violations, whole, shortest} = this.trace;
    this.space = h('div', {}, this.picture.canvas);
    this.box = h('div', {
      class: 'timeline-box', onscroll: () => this.picture.drawNow()
    }, this.space);
    new ResizeObserver(() => this.show()).observe(this.box);
    this.map = new Picture({
      class: 'minimap', 'aria-hidden': 'true', onpointerdown: e => this.mapDown(e),
      onpointermove: e => e.buttons && this.mapMove(e)
    }, (context, width, height) => this.drawMap(context, width, height));
    this.foundText = h('span', {class: 'legend', role: 'status'});
    this.command = h('span');
    this.hint = h('span', {class: 'legend'}, 'Zoom in to see the arrows of wakeups.');
    const used = new Set(lanes.flatMap(lane => lane.waitKinds(this.trace)));
    const keys = [['run', 'running'], ...WAITS.filter((_, k) => used.has(k)), ['ready', 'runnable'],
      ['call', 'in a call']];
    this.element = h('div', {class: 'view fill'}, h('div', {class: 'bar-row'},
        h('button', {onclick: () => this.showSpan(0, duration)}, 'Show all'),
        keys.map(([name, text]) => h('span', {class: 'legend'}, h('span', {class: 'key ' + name}), text)),
        h('span', {class: 'legend'}, `${counted(lanes.length, 'thread')}, ` +
            `${counted(changes, 'change')}, ${counted(arrows.count, 'wakeup')} in ${timeText(duration)}` +
            (duration < whole ? ` of ${timeText(whole)}, from ${this.trace.moment(0)}` : '')),
        shortest > 0 && h('span', {class: 'legend'}, `Intervals below ${timeText(shortest)} are merged; `, this.command),
        this.hint, this.foundText, violations > 0 && h('span', {class: 'loss'}, 'the trace is damaged; a part is missing')),
        this.map.canvas, this.box, this.details);
    this.sayCommand();
  }

  // Tasks, and below each thread its regions, labels and messages.
  makeRows() {
    Object.assign(this, timelineRows(this.trace, this.groups, this.open, this.folded));
  }

  // The command that shows what is in view without merged intervals. For all of the
  // trace, it would merge them again.
  sayCommand() {
    const {begin} = this.trace;
    // The digits that matter for the length of the part.
    const digits = Math.max(0, Math.min(9, Math.ceil(12 - Math.log10(this.to - this.from))));
    const time = t => `${Number(((begin + t) / 1e9).toFixed(digits))}s`;
    fill(this.command, ...this.showsWhole() ? ['zoom in for the command that shows a part in full'] :
        [h('code', {}, `mprof html --from=${time(this.from)} --to=${time(this.to)}`), ' shows this part in full']);
  }

  showsWhole() {
    return this.from === 0 && this.to === this.trace.duration;
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
    if (!this.details.firstChild)
      this.describe();
    // The search may have changed in another view.
    if (this.app.pattern !== this.searched)
      this.search();
  }

  search() {
    this.searched = this.app.pattern;
    this.hits = null;
    this.found = this.app.pattern && this.findHits();
    this.foundText.textContent = this.found ?
        `${this.app.pattern.countText(this.found.count, 'state')}, ${timeText(this.found.sum)}` +
        (this.found.count ? '; n and N go through them' : '') : '';
    this.picture.redraw();
  }

  // For the search in all views.
  countFound() {
    this.search();
    const {count, sum} = this.found;
    return {count, noun: 'state', value: timeText(sum)};
  }

  // The states that the search matches: their number, their time, and in which
  // columns of the map they are.
  findHits() {
    const {lanes, duration} = this.trace, found = {count: 0, sum: 0, columns: new Uint8Array(MAP_COLUMNS)};
    const column = time => Math.min(MAP_COLUMNS - 1, Math.floor(time / duration * MAP_COLUMNS));
    for (const lane of lanes)
      for (let i = 0; i < lane.count; i++)
        if (lane.state[i] !== ABSENT && this.isHit(lane, i)) {
          found.count++;
          found.sum += lane.time[i + 1] - lane.time[i];
          found.columns.fill(1, column(lane.time[i]), column(lane.time[i + 1]) + 1);
        }
    return found;
  }

  // Returns whether the search matches the stack or the reason of a state. The
  // answer is kept for each stack: 1 if it matches, or else 2.
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
    this.trail = [];
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
    if (range.length === 2 && range[0] < Math.min(range[1], this.trace.duration))
      this.selectRange(range[0], range[1]);
  }

  state() {
    const s = this.selected;
    const isAll = this.showsWhole();
    return {
      from: isAll ? null : Math.round(this.from), to: isAll ? null : Math.round(this.to),
      lane: s ? s.lane : null, time: s ? this.trace.lanes[s.lane].time[s.i] : null,
      range: this.range ? this.range.map(Math.round).join('-') : null
    };
  }

  // --- moving and zooming

  showSpan(from, to) {
    const {duration} = this.trace;
    const span = Math.min(Math.max(to - from, 20), duration);
    from = Math.min(Math.max(from, 0), duration - span);
    this.from = from;
    this.to = from + span;
    this.sayCommand();
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
      this.zoom(wheelFactor(event), this.timeAt(Math.max(this.labelWidth, event.offsetX)));
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
    const hit = this.hit(event), span = this.spanAt(event);
    const lines = hit ? this.lines(hit).slice(0, 8) : span ? this.spanLines(span) : this.groupAt(event);
    if (lines)
      tip.show(event.clientX, event.clientY, lines);
    else
      tip.hide();
  }

  up(event) {
    const {drag} = this;
    this.drag = null;
    if (!drag || drag.moved)
      return;
    const place = Math.floor((event.offsetY - this.y(0)) / this.laneHeight), row = this.rows[place];
    const isName = event.offsetX < this.labelWidth;
    if (event.offsetY >= this.top() && row && (row.group || (isName && row.hasMore))) {
      this.fold(row.group || row.lane);
      return;
    }
    this.trail = [];
    const span = this.spanAt(event);
    if (span && span.kind !== SPAN_MESSAGE)
      this.selectRange(span.span.begin, span.span.end, span.span);
    else
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
    if (!row || row.spans || row.group)
      return null;
    const lane = this.trace.lanes[row.lane], i = lane.at(this.timeAt(event.offsetX));
    return i >= 0 && lane.state[i] !== ABSENT ? {lane: row.lane, i} : null;
  }

  // The span under the pointer.
  spanAt(event) {
    const row = this.rowAt(event);
    if (!row || !row.spans)
      return null;
    const i = upperBound(row.begin, this.timeAt(event.offsetX)) - 1, span = row.spans[i];
    const isNear = span && (row.kind === SPAN_MESSAGE ? event.offsetX - this.x(span.begin) < 60 :
        this.x(span.end) > event.offsetX - 2);
    return isNear ? {span, kind: row.kind} : null;
  }

  spanLines({span, kind}) {
    return [`${SPAN_NAMES[kind]} ${this.trace.spanText(span)}`,
      (kind === SPAN_MESSAGE ? '' : timeText(span.end - span.begin) + ', ') +
          `from ${this.trace.moment(span.begin)}`, ...(kind === SPAN_MESSAGE ? [] : ['A click adds up its time'])];
  }

  // Counts the threads of the group under the pointer by their states.
  groupAt(event) {
    const row = this.rowAt(event);
    if (!row || !row.group)
      return null;
    const time = this.timeAt(event.offsetX), counts = new Map();
    for (const i of row.group.lanes) {
      const lane = this.trace.lanes[i], k = lane.at(Math.max(time, lane.time[0]));
      const what = k < 0 || time < lane.time[0] ? STATE_NAMES[ABSENT] : lane.merged.has(k) ? STATE_NAMES[MERGED] :
          this.trace.stateName(lane, k);
      counts.set(what, (counts.get(what) || 0) + 1);
    }
    return [this.rowName(row), ...[...counts].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([what, n]) => `${n} ${what}`),
      'A click opens the group'];
  }

  scrollToRow(row) {
    const y = row * this.laneHeight, {box} = this;
    const room = box.clientHeight - this.top() - this.laneHeight;
    if (y < box.scrollTop || y > box.scrollTop + room)
      box.scrollTop = y - room / 2;
  }

  select(hit) {
    this.selected = hit;
    this.range = this.span = null;
    this.chain = hit ? this.trace.chainOf(hit) : [];
    if (hit) {
      const group = this.groups[hit.lane];
      if (group && !this.open.has(group))
        this.fold(group);
      this.scrollToRow(this.rowOf[hit.lane]);
    }
    this.describe();
    this.picture.redraw();
    this.app.remember();
  }

  // Selects a range of time, and shows what the threads did in it. span: the task
  // or region that has this range.
  selectRange(from, to, span = null) {
    this.selected = null;
    this.span = span;
    this.range = [Math.max(0, from), Math.min(to, this.trace.duration)];
    this.describe();
    this.picture.redraw();
    this.app.remember();
  }

  // Selects the next task, or the one before, as a click does. Without one, it is
  // the first or last in view. In a trace without tasks, these are regions.
  stepTask(by) {
    const spansOf = wanted => this.trace.spanRows.filter(({kind}) => kind === wanted).flatMap(row => row.spans);
    const tasks = [SPAN_RANGE, SPAN_REGION].map(spansOf).find(spans => spans.length) || [];
    tasks.sort((a, b) => a.begin - b.begin || a.end - b.end);
    const at = tasks.indexOf(this.span);
    const inView = tasks.filter(t => t.end >= this.from && t.begin <= this.to);
    const task = at >= 0 ? tasks[at + by] : inView[by > 0 ? 0 : inView.length - 1];
    if (!task)
      return;
    this.selectRange(task.begin, task.end, task);
    this.moveTo(task.begin, task.end);
    // The regions of a thread may be hidden.
    const row = this.rows.findIndex(({spans}) => spans && spans.includes(task));
    if (row >= 0)
      this.scrollToRow(row);
  }

  // Hides or shows the threads of a group, or the regions, labels and messages of
  // a thread.
  fold(what) {
    const set = typeof what === 'object' ? this.open : this.folded;
    if (!set.delete(what))
      set.add(what);
    this.makeRows();
    this.show();
  }

  // Folds the rows of the selected thread, or else its group.
  foldSelected() {
    const s = this.selected, row = s && this.rows[this.rowOf[s.lane]], group = s && this.groups[s.lane];
    if (!row)
      return;
    if (row.hasMore && !this.folded.has(s.lane)) {
      this.fold(s.lane);
    } else if (group) {
      this.select(null);
      this.fold(group);
    } else if (row.hasMore) {
      this.fold(s.lane);
    }
  }

  // Goes to the state that explains the selected one: from a wait to the thread
  // that ended it, and from there to its own wait before.
  followCause() {
    const next = this.selected && this.trace.causeOf(this.selected);
    if (!next)
      return;
    this.trail.push(this.selected);
    this.showState(next);
  }

  followBack() {
    const last = this.trail.pop();
    if (last)
      this.showState(last);
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
      f: () => this.zoomSelected(), g: () => this.followCause(),
      G: () => this.followBack(), h: () => this.foldSelected(), n: () => this.stepHit(1), N: () => this.stepHit(-1),
      Enter: () => this.zoomSelected(),
      t: () => this.stepTask(1), T: () => this.stepTask(-1), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
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
    this.moveTo(lane.time[i], lane.time[i + 1]);
  }

  // Moves to an interval that cannot be seen.
  moveTo(begin, end) {
    const span = this.to - this.from;
    if (end < this.from || begin > this.to)
      this.showSpan(begin - span / 2, begin + span / 2);
  }

  stepLane(by) {
    const s = this.selected, {lanes} = this.trace;
    this.trail = [];
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
    const lines = [`${l.name()}: ${trace.stateName(l, i)}`,
      `${timeText(l.time[i + 1] - l.time[i])}, from ${trace.moment(l.time[i])}`];
    if (l.merged.has(i))
      lines.push(l.merged.get(i).sums.map((v, k) => v && `${STATE_NAMES[Lane.order[k]]} ${timeText(v)}`)
          .filter(Boolean).join(', '));
    if (l.state[i] === BLOCKED) {
      const lock = trace.locks[l.reason[i]];
      if (lock)
        lines.push('for ' + lock);
    }
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

  // The states that explain the selected wait, as buttons.
  chainElement() {
    const {trace} = this, {lanes} = trace;
    const text = ({lane, i}, next) => {
      const l = lanes[lane], lock = trace.locks[l.reason[i]], own = ownFrame(trace.stackLines(l.stack[i]));
      const waker = next && next.lane !== lane ? trace.wakerOf(lane, l.time[i + 1]) : -1;
      const at = waker >= 0 && ownFrame(trace.stackLines(trace.arrows.stack[waker]));
      return `${l.name()}: ${trace.stateName(l, i)}${lock ? ' for ' + lock : ''} ` +
          `${timeText(l.time[i + 1] - l.time[i])}${own ? ' in ' + shortenName(frameName(own), 40) : ''}` +
          (at ? `, ended at ${frameText(at)}` : '');
    };
    return this.chain.length < 2 ? [] : [h('div', {class: 'note'}, 'What this wait waited for (g goes on, G goes back):'),
      h('ol', {class: 'chain'}, this.chain.map((s, k) => h('li', {}, h('button', {
        class: 'plain', 'aria-current': k ? null : 'true', onclick: () => this.showState(s)
      }, text(s, this.chain[k + 1])))))];
  }

  describe() {
    if (this.range) {
      fill(this.details, this.rangeElement(...this.range));
      return;
    }
    if (!this.selected) {
      this.whole = this.whole || this.rangeElement(0, this.trace.duration);
      fill(this.details, h('div', {class: 'note hint'}, 'Click a state to see its stack. Shift and drag, or a click ' +
          'on a task or region, add up a range of time. The wheel (with Ctrl) or W and S zoom; drag or A and D move.'), this.whole);
      return;
    }
    const lines = this.lines(this.selected);
    fill(this.details, h('div', {class: 'state'}, lines.map((l, i) => l.startsWith('+ ') ? h('button', {class: 'plain', onclick: () => {
      this.showsAll = true;
      this.describe();
    }}, l) : h('div', {
      class: i === 0 ? 'strong' : i > 1 && l.startsWith('  ') ? 'frame' : ''
    }, l))), h('div', {class: 'state'}, this.chainElement()));
  }

  // The time in each state during the selected range, of all threads and of those
  // that ran or waited most.
  rangeElement(from, to) {
    const before = [0, 0, 0, 0], after = [0, 0, 0, 0], all = [0, 0, 0, 0];
    const rows = this.trace.lanes.filter(lane => lane.count).map(lane => {
      lane.sumsUntil(from, before, 0);
      lane.sumsUntil(to, after, 0);
      const sums = after.map((v, k) => v - before[k]);
      sums.forEach((v, k) => all[k] += v);
      return {name: lane.name(), sums};
    }).sort((a, b) => b.sums[0] - a.sums[0] || b.sums[1] - a.sums[1]);
    const row = (name, sums) => h('tr', {}, sums.map(v => h('td', {class: 'number'}, v ? timeText(v) : '')),
        h('td', {}, name));
    return [h('div', {class: 'state'}, h('div', {class: 'strong'}, (this.span ? this.trace.spanText(this.span) + ': ' : '') +
        `${timeText(to - from)} from ${this.trace.moment(from)}`),
      h('table', {}, h('thead', {}, h('tr', {}, ['running', 'waiting', 'runnable', 'in a call', 'thread'].map(
          (t, k) => h('th', {class: k < 4 ? 'number' : ''}, t)))),
        h('tbody', {}, row('all threads', all), rows.slice(0, 50).map(r => row(r.name, r.sums)))),
      rows.length > 50 && h('p', {class: 'note'}, counted(rows.length - 50, 'more thread'))),
      h('div', {class: 'state'}, this.waitsElement(from, to))];
  }

  // Lists where the threads waited during the range, and for which lock.
  waitsElement(from, to) {
    const {trace} = this, waits = new Map();
    for (const lane of trace.lanes)
      for (let i = Math.max(0, upperBound(lane.time, from, lane.count) - 1); i < lane.count && lane.time[i] < to; i++) {
        if (!lane.isWait(i))
          continue;
        const time = Math.min(to, lane.time[i + 1]) - Math.max(from, lane.time[i]);
        const key = lane.stack[i] * trace.reasons.length + lane.reason[i];
        const wait = waits.get(key) || {count: 0, sum: 0, lane, i};
        wait.count += time > 0;
        wait.sum += Math.max(0, time);
        waits.set(key, wait);
      }
    // Stacks whose frames of the program are equal share a row.
    const places = new Map();
    for (const w of waits.values()) {
      const own = ownFrame(trace.stackLines(w.lane.stack[w.i])), lock = trace.locks[w.lane.reason[w.i]];
      const text = trace.stateName(w.lane, w.i) + (lock ? ' for ' + lock : '') + (own ? ': ' + frameText(own) : '');
      const place = places.get(text) || {text, count: 0, sum: 0};
      place.count += w.count;
      place.sum += w.sum;
      places.set(text, place);
    }
    const rows = [...places.values()].filter(w => w.count).sort((a, b) => b.sum - a.sum);
    return [rows.length > 0 && h('table', {}, h('thead', {}, h('tr', {}, ['waited', 'waits', 'where'].map(
        (t, k) => h('th', {class: k < 2 ? 'number' : ''}, t)))), h('tbody', {}, rows.slice(0, 20).map(w => h('tr', {},
      h('td', {class: 'number'}, timeText(w.sum)), h('td', {class: 'number'}, wholeText(w.count)), h('td', {}, w.text))))),
      trace.shortest > 0 && h('p', {class: 'note'}, 'Waits in merged intervals are not in this table.')];
  }
}
