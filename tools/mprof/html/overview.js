// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first screen: a card for each question that the files answer, with the
// largest three rows and a link to the view that shows more.

const CARD_ROWS = 3;

// A card says how to count exactly if its relative standard error is larger.
const LARGE_ERROR = 0.2;

// The titles of cards of profiles that have no card of their own.
const CARD_TITLES = {
  cpu: 'Processor time', wall: 'Where the time went', temporary_objects: 'Temporary blocks',
  mmap: 'Mapped memory in use', main: 'Left at the end of main', memory: 'Resident memory',
  mutex: 'Let others wait longest', block: 'Longest waits', threadcreate: 'Created threads'
};

// The words behind the sum of values. Other values are "in total".
const STATES = {
  inuse_space: 'in use', inuse_objects: 'in use', alloc_space: 'allocated', alloc_objects: 'allocated'
};

// The values that a comparison shows.
const CHANGED = {
  inuse_space: 'memory in use', inuse_objects: 'blocks in use', alloc_space: 'allocated memory',
  alloc_objects: 'allocated blocks', delay: 'time', cpu: 'processor time'
};

// The kinds of profiles, their contents, and the options of mprof run that record
// them. null: it does so by default.
const RECORDINGS = [
  ['peak', 'the memory in use at the peak', null], ['temporary_objects', 'temporary blocks', '--heapx'],
  ['memory', 'where the resident memory was', '-O memory=1'],
  ['block', 'waits', '--block'], ['mutex', 'who let others wait', '--mutex'],
  ['threads', 'what each thread does at the end', '--threads'],
  ['cpu', 'processor time', '--cpu'], ['threadleak', 'stuck threads', '--stuck'],
  ['lockorder', 'locks that threads take in different orders', '--lock-order'],
  ['trace', 'what happened when', '--trace']
];

// Options whose larger values keep what was lost.
const REMEDIES = [['stack_depth', 1024], ['max_memory_mb', 4096], ['trace_max_mb', 512], ['max_labels', 65000]];

class OverviewView {
  constructor(app) {
    this.app = app;
    this.title = 'Overview';
    this.isWhole = true; // it shows all files, not the chosen values
    this.grid = h('div', {class: 'cards'});
    this.found = new OverviewSearch(this);
    this.element = h('div', {class: 'view'}, this.found.element, this.grid);
  }

  show() {
    if (this.isMade) {
      this.search();
      return;
    }
    this.isMade = true;
    const {app} = this;
    this.shown = this.app.profiles.filter(p => p.role === 'shown' ||
        p === this.app.selection.profile);
    const memory = new MemoryCards(this);
    const makers = [() => this.stuckCard(), () => this.lockOrderCard(), () => memory.overTime(), ...this.changeCards(),
      ...this.heapCards(), () => this.findLabels(), () => this.labelCard(0), () => this.labelCard(1), () => this.waitCards(), () => this.threadsCard(),
      () => this.taskCards(), () => this.traceCards(),
      () => memory.resident(), ...this.otherCards(), () => this.lossCard(), () => this.missingCard()];
    const make = () => {
      this.search();
      this.makeNext(makers, item => this.grid.append(...[item].flat().filter(Boolean)), () => {
        if (!this.grid.querySelector('.card'))
          this.grid.prepend(h('p', {class: 'note missing'}, 'These files have no values.'));
      });
    };
    if (app.model.nodeCount < STEP || app.isFixed)
      make();
    else
      setTimeout(make);
  }

  // Makes one thing after the other, and lets the browser draw when this takes long.
  // put(thing) returns false to end this.
  makeNext(makers, put, done) {
    const since = performance.now();
    while (makers.length) {
      if (put(makers.shift()()) === false)
        return;
      if (performance.now() - since > 15 && !this.app.isFixed) {
        setTimeout(() => this.makeNext(makers, put, done));
        return;
      }
    }
    done();
  }

  search() {
    this.found.show();
  }

  // --- parts of cards

  // A card. rows: {value, part, name, note, title, href}. part: 0 to 1, or null.
  // hint, last: paragraphs before and after the rows.
  card({title, text, href, rows, kind, hint, last}) {
    return h('section', {class: 'card ' + (kind || '')},
        h('h2', {}, href ? h('a', {href}, title) : title), text && h('p', {}, text), hint,
        (rows || []).map(row => {
          const line = h(row.href ? 'a' : 'div', {class: 'card-row', href: row.href, title: row.title},
              row.value && h('span', {class: 'value'}, row.value),
              h('span', {class: 'what'}, h('span', {class: 'name'}, row.name),
                row.note && h('span', {class: 'place'}, ' ' + row.note),
                row.second && h('div', {class: 'place'}, row.second)));
          line.style.setProperty('--part', 100 * Math.min(1, row.part || 0) + '%');
          return line;
        }), last);
  }

  find(kind) {
    return this.shown.find(p => p.kind === kind);
  }

  tree(profile, type, base) {
    const {start} = this.app.model;
    return new Tree(this.app.model, {profile, type, base: base || null, grain: 0, std: start.std,
      labels: [], only: null});
  }

  href(view, profile, type, fn) {
    return fragmentOf({view, profile: profile.index, type: profile.types[type].name, grain: 'functions',
      std: this.app.model.start.std ? 1 : 0, fn: fn >= 0 ? fn : undefined});
  }

  functionRow(tree, row, value, part) {
    const {model} = this.app, name = model.name(0, row.fn);
    return {
      value, part, name: shortenName(name, 44), note: placeText(model, row),
      title: [name, placeText(model, row), row.via >= 0 && 'via ' + model.name(0, row.via)]
          .filter(Boolean).join('  '),
      href: this.href('Callers and callees', tree.profile, tree.type, row.fn)
    };
  }

  // The functions with the largest own values.
  valueCard(title, profile, type, text, seconds) {
    const tree = this.tree(profile, type);
    if (!(tree.weight[0] > 0))
      return null;
    const rows = firstOf(functionRows(tree).filter(r => r.flat && !r.others),
                         (a, b) => Math.abs(b.flat) - Math.abs(a.flat) || a.fn - b.fn, CARD_ROWS);
    return this.card({
      title, text: text || quantityWithError(tree.sum, tree.variance, tree.unit) + ' in total',
      href: this.href('Flame graph', profile, type), hint: this.errorHint(tree.sum, tree.variance),
      rows: rows.map(r => ({...this.functionRow(tree, r, quantityWithError(r.flat, r.variance, tree.unit),
                                                Math.abs(r.flat) / tree.sum), second: seconds && seconds.get(r.fn)}))
    });
  }

  // For what each function waited longest, by the labels of its stacks: "for mutex queue".
  lockNames(profile, type) {
    const {model} = this.app, shape = shapeOf(model, 0, model.start.std), sums = new Map();
    for (let i = 0; i < profile.stackCount; i++) {
      const labels = new Map(model.labelSets[profile.labels[i]]), kind = labels.get('kind') || '';
      const lock = labels.get('lock'), text = !lock ? kind : /^0x/.test(lock) ? lockName(lock, kind) : `${kind} ${lockName(lock)}`;
      const fn = shape.fn[shape.leaf(profile.nodes[i])], all = sums.get(fn) || new Map();
      sums.set(fn, all.set(text, (all.get(text) || 0) + profile.values[type][i]));
    }
    return new Map([...sums].map(([fn, all]) => {
      const [[first], ...rest] = [...all].sort((a, b) => b[1] - a[1]);
      return [fn, first && `for ${first}` + (rest.length ? ` and ${counted(rest.length, 'other')}` : '')];
    }));
  }

  // --- memory

  // The variance of the sum of all values. 0: they are exact.
  variance(profile, type) {
    const values = profile.values[type];
    let sum = 0;
    for (let i = 0; i < profile.stackCount; i++)
      sum += variance(this.app.model, profile, type, profile.labels[i], values[i]);
    return sum;
  }

  // The sum of all values: "4.97 MiB", or "2.00 \u00b1 0.76 MiB" if they are estimated from samples.
  total(profile, type, unit = profile.types[type].unit) {
    return quantityWithError(profile.types[type].total, this.variance(profile, type), unit);
  }

  // "4.97 MiB in 9,901 blocks"
  amount(profile, space, objects) {
    const noun = objects >= 0 && profile.types[objects].total === 1 ? 'block' : 'blocks';
    return this.total(profile, space, 'bytes') +
        (objects >= 0 ? ` in ${this.total(profile, objects)} ${noun}` : '');
  }

  // Says how to count exactly, in the first card whose values have a large error.
  errorHint(sum, variance) {
    if (this.hasHint || !(Math.sqrt(variance) > LARGE_ERROR * sum))
      return null;
    this.hasHint = true;
    return h('p', {class: 'hint'}, 'Estimated from few samples: ', this.exactCommand());
  }

  // "mprof run --heap-rate=1 counts every block."
  exactCommand() {
    return [h('code', {}, 'mprof run --heap-rate=1'), ' counts every block.'];
  }

  heapCards() {
    const peak = this.find('peak'), heap = this.find('heap');
    const cards = [];
    const space = p => p ? p.typeIndex('inuse_space') : -1;
    const top = space(peak) >= 0 ? peak.types[space(peak)].total : 0;
    if (top > 0) {
      const when = peak.time > 0 ? ` (${dateText(peak.time).slice(11)})` : '';
      cards.push(() => this.valueCard('Most memory at the peak', peak, space(peak),
          `${this.amount(peak, space(peak), peak.typeIndex('inuse_objects'))} at the peak${when}.`));
    }
    if (space(heap) >= 0 && heap.types[space(heap)].total > 0 && !heap.base) {
      const amount = this.amount(heap, space(heap), heap.typeIndex('inuse_objects'));
      const part = top > 0 ? `, ${share(heap.types[space(heap)].total, top)} of the peak` : '';
      cards.push(() => this.valueCard(heap.isAtExit() ? 'Left at the end' : 'Memory in use', heap, space(heap),
          `${amount}, ${heap.isAtExit() ? 'never freed' : 'when the profile was written'}${part}.`));
    }
    const all = heap ? heap.typeIndex('alloc_space') : -1;
    if (all >= 0 && heap.types[all].total > 0) {
      const inUse = space(heap) >= 0 ? heap.types[space(heap)].total : 0;
      cards.push(() => this.valueCard('Allocated most', heap, all,
          [`${this.amount(heap, all, heap.typeIndex('alloc_objects'))}, `, this.freed(heap, all, inUse)]));
    }
    if (heap && !heap.stackCount && !heap.base && heap.types.some(type => type.sampled))
      cards.push(() => this.card({title: 'Memory', text: ['No block was sampled; ', this.exactCommand()]}));
    return cards;
  }

  // Says how much of the allocated memory was freed. Samples miss small leaks.
  freed(heap, all, inUse) {
    const {total} = heap.types[all];
    return inUse || this.variance(heap, all) === 0 ? `${share(total - inUse, total)} of it freed.` :
        ['no sample of it in use. Small leaks may have no sample; ', this.exactCommand()];
  }

  // Finds the memory of the values of the program's own labels.
  findLabels() {
    const {model} = this.app, profile = this.find('peak') || this.find('heap');
    if (!profile)
      return;
    let type, sums, keys = [];
    for (type of ['inuse_space', 'alloc_space'].map(name => profile.typeIndex(name)).filter(i => i >= 0)) {
      sums = labelSums(model, profile, type, null, null);
      keys = [...sums.keys()].filter(key => !OWN_LABELS.has(key)).sort(byName);
      if (keys.length)
        break;
    }
    this.labels = {profile, type, sums, keys};
  }

  // The card of one of these labels.
  labelCard(place) {
    const {model} = this.app, {profile, type, sums, keys: {[place]: key} = []} = this.labels || {};
    if (!key)
      return null;
    const values = sums.get(key), {unit, sampled} = profile.types[type];
    const errors = sampled ? labelSums(model, profile, type, null, key,
        i => variance(model, profile, type, profile.labels[i], profile.values[type][i])).get(key) : new Map();
    let all = 0, error = 0;
    for (const [text, value] of values) {
      all += Math.abs(value);
      error += errors.get(text) || 0;
    }
    return this.card({
      title: 'By the label ' + shortenName(key, 30),
      text: `${quantityWithError(all, error, unit)} of ${this.total(profile, type)} ` +
          `${STATES[profile.types[type].name]}${profile.kind === 'peak' ? ' at the peak' : ''}, in ` +
          `${counted(values.size, 'value')}.`,
      href: this.href('Labels', profile, type),
      rows: firstOf(values, (a, b) => Math.abs(b[1]) - Math.abs(a[1]), CARD_ROWS).map(([value, sum]) => ({
        value: quantityWithError(sum, errors.get(value) || 0, unit), part: Math.abs(sum) / (all || 1),
        name: shortenName(value, 44), title: value,
        href: fragmentOf({view: 'Flame graph', profile: profile.index, type: profile.types[type].name,
          label: `${key}=${value}`})
      }))
    });
  }

  // The growth of each profile that --base compares. Of the heap, both values may
  // have grown; the resident memory comes last, because it depends on the moment.
  changeCards() {
    const space = p => ['alloc_space', 'inuse_space'].map(name => p.typeIndex(name)).filter(i => i >= 0);
    const profiles = [...this.shown].sort((a, b) => (a.kind === 'memory') - (b.kind === 'memory'));
    return profiles.flatMap(profile => profile.kind === 'memory' ? () => new MemoryCards(this).residentChange(profile) :
        (profile.kind === 'heap' ? space(profile) : [this.app.startType(profile)])
            .map(type => () => this.changeCard(profile, type)));
  }

  // Differences of less than two standard errors are noise, as in mprof diff. Of many
  // functions, some differ by more by chance: see is_beyond_chance in comparison.c.
  changeCard(profile, type) {
    const base = this.app.baseOf(profile);
    if (!base)
      return null;
    const tree = this.tree(profile, type, base), {unit} = tree, {name} = profile.types[type];
    const rows = functionRows(tree);
    for (const row of rows)
      row.delta = row.flat - row.base;
    const beyond = rows.filter(r => r.delta && !r.others && Math.abs(r.delta) >= 2 * Math.sqrt(r.variance));
    const changed = firstOf(beyond, (a, b) => Math.abs(b.delta) - Math.abs(a.delta) || a.fn - b.fn, CARD_ROWS);
    const sum = tree.sum - tree.baseSum, variance = rows.reduce((all, r) => all + r.variance, 0);
    const limit = 4 + 2 * Math.log(rows.length);
    if (!changed.length ||
        (!(sum && sum ** 2 >= 4 * variance) && !beyond.some(r => r.delta ** 2 >= limit * r.variance)))
      return null;
    return this.card({
      title: 'Changed most: ' + (profile.kind === 'mmap' ? 'mapped ' : '') + (CHANGED[name] || name) +
          (profile.kind === 'peak' ? ' at the peak' : name.startsWith('inuse') && profile.isAtExit() ? ' at the end' : ''),
      text: `Before ${quantity(tree.baseSum, unit)}, now ${quantity(tree.sum, unit)}, change ` +
          change(tree.total[0] - tree.totalBase[0], unit) + '.',
      href: this.href('Flame graph', profile, tree.type),
      rows: changed.map(
          r => this.functionRow(tree, r, change(r.delta, unit), Math.abs(r.delta / changed[0].delta)))
    });
  }

  // --- threads and waits

  stuckCard() {
    const view = this.app.views.find(v => v instanceof StuckView);
    if (!view)
      return null;
    const href = fragmentOf({view: view.title}), rows = [];
    let count = 0;
    for (const group of view.groups)
      for (const t of group.threads) {
        count++;
        rows.push({value: t.waited, name: shortenName(frameName(ownFrame(t.stack)), 40) || 'unknown code', href,
          note: `${t.name || 'thread'} (${t.id})`,
          second: `waits for ${lockName(t.wait || 'unknown')}` + (t.heldBy ? `, held by thread ${t.heldBy}` : ''),
          title: t.stack.slice(0, 12).join('\n')});
      }
    for (const profile of count ? [] : view.profiles) {
      const shape = shapeOf(this.app.model, 0, this.app.model.start.std);
      for (let i = 0; i < profile.stackCount; i++) {
        const labels = new Map(this.app.model.labelSets[profile.labels[i]]);
        const fn = shape.fn[shape.leaf(profile.nodes[i])];
        count += profile.values[0][i];
        rows.push({value: counted(profile.values[0][i], 'thread'), href,
          name: fn < 0 ? 'unknown code' : shortenName(this.app.model.name(0, fn), 40),
          second: 'waits for ' + (labels.get('lock') || labels.get('kind') || 'something')});
      }
    }
    return count ? this.card({
      title: 'Stuck threads', kind: 'danger', href, rows: rows.slice(0, CARD_ROWS),
      text: h('a', {href}, `${counted(count, 'thread')} can never continue.`)
    }) : null;
  }

  // A cycle has two stacks for each of its steps: "1 of 2: holds" and "1 of 2: takes".
  lockOrderCard() {
    const profile = this.find('lockorder'), {model} = this.app, cycles = new Map();
    if (!profile)
      return null;
    const shape = shapeOf(model, 0, model.start.std);
    for (let i = 0; i < profile.stackCount; i++) {
      const labels = new Map(model.labelSets[profile.labels[i]]), fn = shape.fn[shape.leaf(profile.nodes[i])];
      const steps = cycles.get(labels.get('cycle')) || new Map();
      steps.set(labels.get('step'), {lock: lockName(labels.get('lock') || 'unknown', labels.get('kind')),
        place: fn < 0 ? 'unknown code' : shortenName(model.name(0, fn), 40)});
      cycles.set(labels.get('cycle'), steps);
    }
    const href = this.href('Flame graph', profile, profile.type);
    return cycles.size ? this.card({
      title: 'Locks taken in different orders', kind: 'danger', href,
      text: `${counted(cycles.size, 'cycle')} of locks can become a deadlock.`,
      rows: [...cycles.values()].slice(0, CARD_ROWS).map(steps => ({
        name: [...steps].filter(([step]) => /holds$/.test(step)).map(([, {lock}]) => lock).join(', '), href,
        second: [...steps].filter(([step]) => /takes$/.test(step)).slice(0, 2).map(
            ([, {lock, place}]) => `${place} takes ${lock} second`).join('; ')
      }))
    }) : null;
  }

  waitCards() {
    const view = this.app.views.find(v => v instanceof LocksView);
    const card = kind => {
      const p = this.find(kind), i = p ? Math.max(0, p.typeIndex('delay')) : -1;
      return p && this.valueCard(CARD_TITLES[kind], p, i,
          `${quantity(p.types[i].total, p.types[i].unit)} in total.`, this.lockNames(p, i));
    };
    if (!view)
      return [card('block'), card('mutex')];
    const all = view.locks(this.app), locks = all.filter(l => l.isLock);
    const sum = list => list.reduce((s, l) => s + Math.max(l.sums[0], l.sums[1]), 0);
    const name = map => {
      const [best] = [...map].sort((a, b) => b[1] - a[1]);
      return !best ? '' : best[0] < 0 ? 'no stack' : shortenName(this.app.model.name(0, best[0]), 30);
    };
    const waited = sum(locks), others = sum(all.filter(l => !l.isLock));
    if (!locks.length)
      return [card('block')];
    return [this.card({
      title: 'Longest waits', href: fragmentOf({view: view.title}),
      text: `Threads waited ${quantity(waited, 'nanoseconds')} for locks` +
          (others ? ` and ${quantity(others, 'nanoseconds')} for other things.` : '.'),
      rows: locks.slice(0, CARD_ROWS).map(l => {
        // The profile locks knows which waiter waited for which holder.
        const [pair] = view.pairsOf(l);
        const [waiter, holder] = pair ?
            [view.placeOf(pair.lines[0], 30), pair.lines[1] >= 0 ? view.holderOf(pair, 30).replace('? -> ', '') : ''] :
            [name(l.functions[0]), name(l.functions[1])];
        return {
          value: quantity(Math.max(l.sums[0], l.sums[1]), 'nanoseconds'), name: lockName(l.name, l.kind), note: l.made,
          part: Math.max(l.sums[0], l.sums[1]) / waited, title: l.name,
          second: [waiter && waiter + ' waited', holder && holder + ' held it'].filter(Boolean).join(', '),
          href: fragmentOf({view: view.title})
        };
      })
    })];
  }

  threadsCard() {
    const profile = this.find('threads'), {model} = this.app;
    // At exit, most programs have only the thread that ends them.
    if (!profile || (profile.isAtExit() && profile.types[profile.type].total === 1))
      return null;
    const shape = shapeOf(model, 0, model.start.std), states = new Map(), rows = new Map();
    let sum = 0;
    for (let i = 0; i < profile.stackCount; i++) {
      const labels = new Map(model.labelSets[profile.labels[i]]), count = profile.values[0][i];
      const state = labels.get('state') || 'unknown state';
      const fn = shape.fn[shape.leaf(profile.nodes[i])];
      const what = state + (labels.get('kind') ? ` (${labels.get('kind')})` : '');
      states.set(state, (states.get(state) || 0) + count);
      const key = fn + what, row = rows.get(key) || {fn, what, count: 0};
      row.count += count;
      rows.set(key, row);
      sum += count;
    }
    const parts = [...states].sort((a, b) => b[1] - a[1]).map(([state, n]) => `${n} ${state}`);
    return sum ? this.card({
      title: 'Threads', href: this.href('Flame graph', profile, profile.type),
      text: `${counted(sum, 'thread')}: ${parts.join(', ')}.`,
      rows: [...rows.values()].sort((a, b) => b.count - a.count).slice(0, CARD_ROWS).map(r => ({
        value: String(r.count), part: r.count / sum, note: r.what,
        name: r.fn < 0 ? 'no stack' : shortenName(model.name(0, r.fn), 40),
        href: this.href('Callers and callees', profile, profile.type, r.fn)
      }))
    }) : null;
  }

  // The tasks of mprof latency, or, in a trace without tasks, the outermost regions.
  taskCards() {
    return this.app.views.filter(v => v instanceof TimelineView && v.trace.slowest).map(view => {
      const {count, areRegions, tasks, together} = view.trace.slowest, noun = areRegions ? 'region' : 'task';
      return tasks.length && this.card({
        title: areRegions ? 'Slowest regions' : 'Slowest tasks', href: fragmentOf({view: view.title}),
        text: `${counted(count, noun)} in the trace${areRegions ? ', which has no tasks' : ''}.`,
        // A single slow task may be a chance.
        last: together && [h('p', {class: 'hint'}, `The ${counted(together.count, 'slowest ' + noun)} together, ${timeText(together.ns)}: ` +
            together.parts.filter(p => p.ns >= together.ns / 20).map(p => partText(p, together.ns)).join('; ') + '.')],
        rows: tasks.map(({name, begin, length, parts}) => ({
          value: timeText(length), part: length / (tasks[0].length || 1), name: shortenName(visible(name), 44),
          note: begin >= 0 ? `after ${timeText(begin)}` : '',
          second: parts.filter(p => p.ns >= length / 20).map(p => partText(p, length)).join('; '),
          title: parts.map(p => partText(p, length)).join('\n'),
          href: fragmentOf({view: view.title, from: Math.max(0, begin - length * 0.1), to: begin + length * 1.1,
            range: `${Math.max(0, begin)}-${begin + length}`})
        }))
      });
    });
  }

  traceCards() {
    return this.app.views.filter(v => v instanceof TimelineView).map(view => {
      const {trace} = view, sums = [0, 0, 0, 0];
      for (const lane of trace.lanes)
        lane.sums.forEach((s, k) => sums[k] += s[lane.count]);
      const words = ['running', 'waiting', 'runnable', 'in calls'];
      return this.card({
        title: view.title, href: fragmentOf({view: view.title}),
        text: `${counted(trace.lanes.length, 'thread')} in ${timeText(trace.duration)}: ` +
            words.map((w, k) => sums[k] && `${timeText(sums[k])} ${w}`).filter(Boolean).join(', ') + '.',
        rows: longestWaits(trace, CARD_ROWS).map(w => ({
          value: timeText(w.time), name: w.text, note: trace.lanes[w.lane].name(), part: w.time / trace.duration,
          second: chainText(trace, w),
          href: fragmentOf({view: view.title, lane: w.lane, time: w.from,
            from: Math.max(0, w.from - w.time / 2), to: w.from + w.time * 1.5})
        }))
      });
    });
  }

  otherCards() {
    const known = new Set(['peak', 'heap', 'block', 'mutex', 'locks', 'threads', 'threadleak',
      'lockorder', 'memory']);
    const threads = this.find('threads');
    return this.shown.filter(p => p.role === 'shown' && !known.has(p.kind) &&
        !(p.kind === 'threadcreate' && threads && !threads.isAtExit()) && !this.app.baseOf(p)).map(p => () => {
      const type = p.types[p.type].total > 0 ? p.type : p.types.findIndex(t => t.total > 0);
      if (type < 0)
        return null;
      return this.valueCard(CARD_TITLES[p.kind] || p.kind, p, type,
          p.kind === 'threadcreate' ? this.createText(p) : this.sumText(p, type));
    });
  }

  // "35,561 temporary blocks in total.", "60.0 MiB in use."
  sumText(profile, type) {
    const {name, unit, total} = profile.types[type];
    const noun = unit === 'bytes' || unit === 'nanoseconds' ? '' :
        nounOf({profile, type, unit}, total) || ' ' + name.replace(/_/g, ' ');
    return `${this.total(profile, type)}${noun} ${STATES[name] || 'in total'}.`;
  }

  createText(profile) {
    const live = profile.comment('live_threads');
    return `${counted(profile.types[profile.type].total, 'thread')} created` +
        (live ? `, ${live} of them alive when the profile was written.` : '.');
  }

  // --- what is not there

  lossCard() {
    const texts = new Set(this.shown.flatMap(p => this.app.lossTexts(p)));
    return texts.size ? this.card({
      title: 'What was lost', kind: 'lost',
      rows: [...texts].slice(0, 2 * CARD_ROWS).map(text => {
        const remedy = REMEDIES.find(([name]) => text.includes(name));
        return {
          name: text.replace(/^Lost: /, ''),
          second: remedy && `To keep it: MPROF_OPTIONS=${remedy.join('=')}`
        };
      })
    }) : null;
  }

  missingCard() {
    const {model} = this.app;
    const has = new Set(model.profiles.map(p => p.kind));
    if (model.traces.length)
      has.add('trace');
    if (model.reports.length)
      has.add('threadleak');
    const beside = new Map();
    for (let i = 0; i < model.start.beside.length; i += 2)
      beside.set(model.start.beside[i].replace(/^stuck$/, 'threadleak'), visible(model.start.beside[i + 1]));
    const missing = RECORDINGS.filter(([kind]) => !has.has(kind) && !beside.has(kind));
    const left = RECORDINGS.filter(([kind]) => !has.has(kind) && beside.has(kind));
    const program = this.app.profiles.some(p => p.comment('command'));
    const list = (items, how) => items.map((item, i) => [i ? '; ' : '', item[1], ' (', how(item), ')']);
    return [
      left.length && h('p', {class: 'note missing'}, 'Beside these files: ',
          list(left, ([kind]) => h('code', {}, beside.get(kind))), '. ', h('code', {}, 'mprof html'),
          ' also takes several files, or a directory.'),
      missing.length && program && h('p', {class: 'note missing'}, 'Not in these files: ',
          list(missing, ([,, option]) => option ? h('code', {}, option) : 'the default'),
          '. These are options of ', h('code', {}, 'mprof run'), '.')
    ];
  }
}
