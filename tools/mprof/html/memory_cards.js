// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cards of the overview for the memory over time and the resident memory.

// Resident memory that differs less, as a part of all, is noise: that of two runs
// at exit, and at the highest, which was looked for after each growth by a tenth.
const MEMORY_NOISE = {exit: 0.05, other: 0.1};

class MemoryCards {
  constructor(overview) {
    this.overview = overview;
  }

  // The memory over time: from snapshots, as the runtime has kept it with the heap
  // profile, or from a trace, which ends at its last record.
  overTime() {
    const series = this.snapshots() || this.curve() || this.heapOfTrace();
    if (!series)
      return null;
    const {times, values, unit, when, amount, href} = series;
    let best = 0;
    for (let i = 1; i < values.length; i++)
      if (values[i] > values[best])
        best = i;
    const picture = new Picture({class: 'spark', role: 'img', 'aria-label': 'Memory over time'},
        (context, width, height) => drawSpark(context, width, height, times, values, best, unit));
    const card = this.overview.card({
      title: 'Memory over time', href,
      text: `At most ${amount(best)}, ${when(best)}; ${amount(values.length - 1)} at the last moment.`
    });
    card.append(picture.canvas);
    return card;
  }

  snapshots() {
    const view = this.overview.app.views.find(v => v instanceof SeriesView);
    if (!view)
      return null;
    const {profile, type} = this.overview.app.selection, {name, unit} = profile.types[type];
    const points = view.snapshots.filter(p => p.typeIndex(name) >= 0);
    return {
      times: points.map((p, i) => p.time || i), values: points.map(p => p.types[p.typeIndex(name)].total), unit,
      when: i => dateText(points[i].time).slice(11, 19) || points[i].name,
      amount: i => this.overview.total(points[i], points[i].typeIndex(name)), href: fragmentOf({view: view.title})
    };
  }

  // Bytes at times in nanoseconds.
  bytesOverTime(times, values, href) {
    return {times, values, unit: 'bytes', when: i => times[i] ? `after ${timeText(times[i])}` : 'at the start',
      amount: i => quantity(values[i], 'bytes'), href};
  }

  // The heap of a trace is the same until its next record.
  heapOfTrace() {
    const view = this.overview.app.views.find(v => v instanceof TimelineView && v.trace.heap.length > 1);
    if (!view)
      return null;
    const {heap, heapTime, duration} = view.trace, times = [0], values = [0];
    for (let i = 0; i < heap.length; i++) {
      times.push(heapTime[i], heapTime[i]);
      values.push(values[values.length - 1], heap[i]);
    }
    times.push(Math.max(duration, heapTime[heap.length - 1]));
    values.push(values[values.length - 1]);
    return this.bytesOverTime(times, values, fragmentOf({view: view.title}));
  }

  // As in mprof top, too few bytes have no curve, because the text has whole KiB.
  curve() {
    const heap = this.overview.find('heap'), peak = this.overview.find('peak') || heap;
    const parts = /^([1-9]\d{0,15}) ns, KiB:((?: \d{1,15})+)$/.exec(heap && !heap.base && heap.comment('inuse_over_time') || '');
    const values = parts ? parts[2].slice(1).split(' ').map(kib => kib * 1024) : [];
    return values.length > 1 && values.some(v => v >= 65536) ? this.bytesOverTime(
        values.map((_, i) => i * parts[1]), values, this.overview.href('Flame graph', peak, peak.typeIndex('inuse_space'))) : null;
  }

  // The parts of the resident memory, which are the outermost frames.
  parts(profile, base) {
    const tree = this.overview.tree(profile, Math.max(0, profile.typeIndex('rss')), base), parts = [];
    const {fn, runs: {first, next, start}} = tree.shape;
    for (let r = first[0]; r; r = next[r])
      parts.push({fn: fn[start[r]], value: tree.total[r], delta: tree.total[r] - (base ? tree.totalBase[r] : 0)});
    return {tree, parts};
  }

  row({profile, type}, {fn}, value, part) {
    const name = this.overview.app.model.name(0, fn);
    return {value, part, name: shortenName(this.overview.app.model.memoryParts[name] || name, 44),
      href: this.overview.href('Callers and callees', profile, type, fn)};
  }

  resident() {
    const profile = this.overview.find('memory');
    if (!profile)
      return null;
    const {tree, parts} = this.parts(profile), shown = parts.filter(p => p.value > 0);
    shown.sort((a, b) => b.value - a.value);
    // There are no notes if this version of mprof does not know all parts.
    const [total = quantity(tree.sum, tree.unit) + ' resident in total', ...notes] = profile.notes.map(visible);
    const moment = profile.comment('moment');
    return shown.length ? this.overview.card({
      title: CARD_TITLES.memory, href: this.overview.href('Flame graph', profile, tree.type),
      text: `${moment ? `At ${moment}: ` : ''}${total}.`, last: notes.map(text => this.note(text)),
      rows: shown.slice(0, CARD_ROWS).map(
          p => this.row(tree, p, quantity(p.value, tree.unit), p.value / tree.sum))
    }) : null;
  }

  // The cards of the heap have the differences by stack. The account is exact for whole
  // parts, but the memory of two runs differs.
  residentChange(profile) {
    const base = this.overview.app.baseOf(profile);
    if (!base)
      return null;
    const {tree, parts} = this.parts(profile, base), {unit} = tree;
    const [before, now] = [base, profile].map(p => p.comment('moment') || 'the time of writing');
    const when = moment => before === now ? '' : ` at ${moment}`;
    const noise = (before === now && MEMORY_NOISE[now] || MEMORY_NOISE.other) * Math.max(tree.sum, tree.baseSum);
    const changed = parts.filter(p => Math.abs(p.delta) > noise).sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta));
    return changed.length ? this.overview.card({
      title: 'Changed most: resident memory', href: this.overview.href('Flame graph', profile, tree.type),
      text: `Before ${quantity(tree.baseSum, unit)}${when(before)}, now ${quantity(tree.sum, unit)}${when(now)}, ` +
          `change ${change(tree.sum - tree.baseSum, unit)}.`,
      rows: changed.slice(0, CARD_ROWS).map(
          p => this.row(tree, p, change(p.delta, unit), Math.abs(p.delta / changed[0].delta)))
    }) : null;
  }

  // A sentence of mprof memory, or a command with "  # " and what it shows.
  note(text) {
    const [, command, shows] = text.match(/^(.*) {2}# (.*)$/) || [];
    return h('p', {class: 'hint'},
        command ? [h('code', {}, command), ' shows ', shows] : text.replace(/^note: /, ''), '.');
  }
}
