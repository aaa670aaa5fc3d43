// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The views of locks: the waiters of each lock, beside its holders, and both
// joined; and threads that wait for ever.

// The frames before the parts of a stack of the locks profile, the waiter's first, and
// those for parts that are not known (rt/write/kind_locks.c).
const PAIR_PARTS = ['', '[released in]', '[taken in]', '[lock made in]'];
const NO_PAIR_PARTS = ['[no release]', '[unknown waiter]'];

// The rows of a lock. One more row has the sum of the others.
const MAX_PAIRS = 12, MAX_FUNCTIONS = 6;

class LocksView {
  // block, mutex, pairs: profiles, or undefined. Without the first two, the sums
  // are those of the pairs.
  constructor(app, block, mutex, pairs) {
    this.app = app;
    this.profiles = block && mutex ? [block, mutex] : [];
    this.pairs = pairs;
    this.title = 'Locks';
    this.isWhole = true;
    this.element = h('div', {class: 'view'});
  }

  // The locks, and the other things that threads waited for; the longest waits
  // first.
  locks(app) {
    const locks = new Map();
    this.profiles.forEach((profile, side) => this.collect(app, profile, side, locks));
    if (this.pairs)
      this.join(app, locks);
    return [...locks.values()].sort((a, b) =>
      Math.max(b.sums[0], b.sums[1]) - Math.max(a.sums[0], a.sums[1]));
  }

  show(app) {
    const {pattern} = app, all = this.locks(app);
    const most = all.length ? Math.max(...all[0].sums) : 1;
    const sorted = pattern ? all.filter(lock => this.fits(lock, pattern)) : all;
    fill(this.element, this.profiles.length > 0 && h('p', {class: 'note'}, 'Left: the functions ' +
        'that waited for a lock, with their waiting time (block profile). Right: the functions ' +
        'that let others wait until they released it (mutex profile).'),
        this.pairs && h('p', {class: 'note'}, 'Arrows: who waited for whom (locks profile): the ' +
        'waiter \u2192 where the holder took the lock -> where it released it. ? is not known, because no ' +
        'thread had waited for the lock shortly before. ' +
        'A wait that several releases prolonged is one wait, but counts in the row of each; its time is divided.'),
        pattern && h('p', {class: 'note', role: 'status'}, pattern.countText(sorted.length, 'lock') + '.'),
        sorted.slice(0, 100).map(lock => this.card(app, lock, most)));
  }

  // Returns whether the name of the lock or of one of its functions matches.
  fits({name, functions, pairs}, pattern) {
    const {model} = this.app;
    return pattern.test(name) || functions.some(map => [...map.keys()].some(fn => fn >= 0 && model.matches(0, fn, pattern))) ||
        [...pairs.values()].some(({lines}) => lines.some(line => line >= 0 && model.matches(1, line, pattern)));
  }

  collect(app, profile, side, locks) {
    const type = Math.max(0, profile.typeIndex('delay'));
    const counts = profile.typeIndex('contentions');
    const shape = shapeOf(app.model, 0, app.selection.std);
    const values = profile.values[type];
    for (let i = 0; i < profile.stackCount; i++) {
      if (!values[i])
        continue;
      const lock = this.lockOf(app, profile, i, locks);
      const fn = shape.fn[shape.leaf(profile.nodes[i])];
      lock.sums[side] += values[i];
      if (counts >= 0)
        lock.counts[side] += profile.values[counts][i];
      lock.functions[side].set(fn, (lock.functions[side].get(fn) || 0) + values[i]);
    }
  }

  // Returns the lock of stack i, and adds it if needed.
  lockOf(app, profile, i, locks) {
    const labels = app.model.labelSets[profile.labels[i]];
    const label = key => (labels.find(l => l[0] === key) || [])[1];
    const name = label('lock') || `other waits (${label('kind') || 'no label'})`;
    if (!locks.has(name))
      // Threads without work wait for conditions.
      locks.set(name, {name, isLock: Boolean(label('lock')) && label('kind') !== 'cond',
        kind: label('kind'), sums: [0, 0], counts: [0, 0], functions: [new Map(), new Map()],
        pairs: new Map()});
    return locks.get(name);
  }

  // Adds the pairs of the locks profile, as view/lock_pairs.c does.
  join(app, locks) {
    const {pairs: profile, app: {model}} = this;
    const values = name => profile.values[profile.typeIndex(name)];
    const delays = values('delay'), counts = values('contentions'), held = values('held');
    for (let i = 0; i < profile.stackCount; i++) {
      const lock = this.lockOf(app, profile, i, locks), labels = new Map(model.labelSets[profile.labels[i]]);
      const lines = this.partLines(profile.nodes[i]);
      const access = ['waiter_access', 'holder_access'].map(name => labels.get(name) || '');
      const key = [...lines, ...access].join('\n');
      const pair = lock.pairs.get(key) || {lines, access, parts: lines.map(line => line < 0 ? '' : model.name(1, line)),
        delay: 0, count: 0, held: 0, worst: 0, queue: 0};
      pair.delay += delays[i];
      pair.count += counts[i];
      pair.held += held ? held[i] : 0;
      pair.worst = Math.max(pair.worst, Number(labels.get('worst_wait') || 0));
      pair.queue = Math.max(pair.queue, Number(labels.get('longest_queue') || 0));
      lock.pairs.set(key, pair);
      if (!this.profiles.length)
        lock.sums[0] += delays[i];
      if (lines[3] >= 0 && /^0x/.test(lock.name))
        lock.made = `+${labels.get('lock_offset') || 0} in ${this.madeIn(lines[3])}`;
    }
    for (const lock of locks.values())
      this.joinUnknown(lock);
  }

  // "block of NAME FILE:LINE", or the type of the block.
  madeIn(line) {
    const place = this.placeOf(line), [type] = place.match(/^typeinfo name for /) || [''];
    return type ? place.slice(type.length) : 'block of ' + place;
  }

  // If one place is known where a lock was taken before a release, the pairs without a
  // place join it, as in pairs_join.
  joinUnknown(lock) {
    const known = new Map(), key = p => [p.lines[0], p.lines[1], p.lines[3], ...p.access].join('\n');
    for (const pair of lock.pairs.values())
      if (pair.lines[2] >= 0)
        known.set(key(pair), known.has(key(pair)) ? null : pair);
    for (const [name, pair] of lock.pairs) {
      const to = pair.lines[1] >= 0 && pair.lines[2] < 0 && known.get(key(pair));
      if (!to)
        continue;
      for (const value of ['delay', 'count', 'held'])
        to[value] += pair[value];
      to.worst = Math.max(to.worst, pair.worst);
      to.queue = Math.max(to.queue, pair.queue);
      to.hasUnknown = true;
      lock.pairs.delete(name);
    }
  }

  // The pairs of a lock, the longest waits first.
  pairsOf(lock) {
    return [...lock.pairs.values()].sort((a, b) => b.delay - a.delay);
  }

  // The innermost line of the user's in each part of a stack, or -1. The runtime
  // divides the stack by pseudo frames.
  partLines(leaf) {
    const {model, selection: {std}} = this.app, [functions, lines] = model.frames;
    const parts = PAIR_PARTS.map(() => -1);
    let part = 0;
    for (let n = leaf; n; n = model.parent[n]) {
      const frame = model.frame[n], fn = functions[frame], name = model.name(0, fn);
      const begins = PAIR_PARTS.indexOf(name);
      if (begins > 0)
        part = begins;
      else if (parts[part] < 0 && !NO_PAIR_PARTS.includes(name) && (std || !model.functions[0].std[fn]))
        parts[part] = lines[frame];
    }
    return parts;
  }

  // "NAME FILE:LINE"
  placeOf(line, room = 80) {
    const {model} = this.app, {file, line: number} = model.functions[1];
    return line < 0 ? '?' : [shortenName(model.name(1, line), room),
      placeText(model, {file: file[line], line: number[line]})].filter(Boolean).join(' ');
  }

  // Says where the holder took and released the lock; in one function, "NAME FILE:LINE -> LINE".
  holderOf({lines: [, release, taken]}, room) {
    const {name, file, line} = this.app.model.functions[1];
    if (release < 0)
      return 'not seen';
    if (taken >= 0 && name[taken] === name[release] && file[taken] === file[release] && line[taken] > 0 && line[release] > 0)
      return this.placeOf(taken, room) + (line[taken] === line[release] ? '' : ` -> ${line[release]}`);
    return `${this.placeOf(taken, room)} -> ${this.placeOf(release, room)}`;
  }

  pairRows(lock, most) {
    const time = value => quantity(value, 'nanoseconds');
    const pairs = this.pairsOf(lock);
    return pairs.slice(0, MAX_PAIRS).map(pair => {
      const [waiter, holder] = pair.access;
      const access = (waiter && `, ${waiter}`) + (holder && ` behind ${holder}`);
      const facts = [`${time(pair.delay)} in ${counted(pair.count, 'wait')}`, pair.worst && `worst ${time(pair.worst)}`,
        pair.lines[2] >= 0 && `held ${time(pair.held)}${pair.hasUnknown ? ' + ?' : ''}`, pair.queue && `queue ${wholeText(pair.queue)}`];
      const row = h('div', {class: 'label bar', title: pair.parts.slice(0, 3).filter(Boolean).join('\n')},
          h('span', {}, `${this.placeOf(pair.lines[0])} \u2192 ${this.holderOf(pair)}${access}`),
          h('span', {class: 'place'}, facts.filter(Boolean).join(', ')));
      row.style.setProperty('--part', 100 * pair.delay / most + '%');
      return row;
    }).concat(this.hiddenRow(pairs.slice(MAX_PAIRS).map(pair => pair.delay)));
  }

  // Says what the rows that are not shown add to the sum.
  hiddenRow(values) {
    return values.length ? h('p', {class: 'note'}, `${counted(values.length, 'more row')}: ` +
        quantity(values.reduce((sum, v) => sum + v, 0), 'nanoseconds')) : [];
  }

  card(app, lock, most) {
    const side = (s, title) => {
      const rows = [...lock.functions[s]].sort((a, b) => b[1] - a[1]);
      return h('div', {class: 'lock-side'}, h('div', {class: 'place'},
          `${title}: ${quantity(lock.sums[s], 'nanoseconds')} in ` +
          counted(lock.counts[s], s ? 'release' : 'wait')),
          rows.slice(0, MAX_FUNCTIONS).map(([fn, value]) => {
            const button = h('button', {class: 'label bar', onclick: () => this.open(app, s, fn)},
                h('span', {}, fn < 0 ? 'no stack' : briefName(app.model.name(0, fn))),
                h('span', {class: 'place'}, quantity(value, 'nanoseconds')));
            button.style.setProperty('--part', 100 * value / most + '%');
            return button;
          }), this.hiddenRow(rows.slice(MAX_FUNCTIONS).map(([, value]) => value)), !rows.length && h('p', {class: 'note'}, s ? 'no release is recorded' :
              'no wait is recorded'));
    };
    return h('section', {class: 'lock'}, h('h2', {title: lock.name}, briefName(lock.name),
        lock.kind && h('small', {}, lock.kind), lock.made && h('small', {}, lock.made)),
        this.profiles.length > 0 &&
            h('div', {class: 'lock-sides'}, side(0, 'Waited'), side(1, 'Let others wait')),
        lock.pairs.size > 0 && h('div', {class: 'lock-pairs'}, this.pairRows(lock, most)));
  }

  open(app, side, fn) {
    app.selection.grain = 0;
    app.selectProfile(this.profiles[side]);
    if (fn >= 0)
      app.choose(fn);
  }

  search(app) {
    this.show(app);
  }
}

// --- stuck threads

// Reads the report NAME.stuck.txt. Returns cycles and threads outside of cycles.
function parseStuck(lines) {
  const groups = [];
  let group = null, thread = null, stack = null;
  for (const line of lines) {
    let m;
    if ((m = line.match(/^thread (\d+) "(.*)"(?:, (\w+))?/))) {
      thread = {id: m[1], name: m[2], grade: m[3] || '', holds: [], wait: null, heldBy: null,
        stack: [], waited: ''};
      if (!group)
        groups.push(group = {title: 'Stuck threads', threads: []});
      group.threads.push(thread);
      stack = null;
    } else if (thread && (m = line.match(/^ {2}has waited (.*?) for (.*?)(?:, held by thread (\d+).*)?$/))) {
      [thread.waited, thread.wait, thread.heldBy] = m.slice(1);
      stack = thread.stack;
    } else if (thread && (m = line.match(/^ {2}holds (.*?)(?:, taken (.*))?$/))) {
      thread.holds.push({name: m[1], stack: stack = []});
    } else if (stack && (m = line.match(/^ {4}#\d+ 0x[0-9a-f]+ (?:in )?(.*)$/))) {
      stack.push(m[1]);
    } else if (/^\S/.test(line)) {
      thread = stack = null;
      group = null;
      if (/^(Cycle|Threads|Other|Waits)/.test(line))
        groups.push(group = {title: line.replace(/:$/, ''), threads: []});
    }
  }
  return groups.filter(g => g.threads.length);
}

// The user's function of a stack: "transfer  deadlock.c:46".
function ownPlace(stack) {
  const own = ownFrame(stack), m = own.match(/^(.*?) (\S+):(\d+)$/);
  return m ? `${m[1]}  ${baseName(m[2])}:${m[3]}` : own.replace(/ \(.*/, '');
}

class StuckView {
  constructor(app, reports, profiles) {
    this.title = 'Stuck threads';
    this.isWhole = true;
    this.element = h('div', {class: 'view'});
    this.groups = reports.flatMap(r => parseStuck(r.lines));
    this.profiles = profiles;
  }

  show(app) {
    this.pattern = app.pattern;
    fill(this.element, this.groups.map(g => this.groupElement(g)),
         !this.groups.length && h('p', {class: 'note'}, 'The profile says what each thread waits ' +
             'for. The report NAME.stuck.txt also says who holds it: give both files to mprof html.'),
         !this.groups.length && this.profiles.map(p => this.profileElement(app, p)));
  }

  groupElement(group) {
    const ids = new Set(group.threads.map(t => t.id));
    const isCycle = group.threads.length > 0 && group.threads.every(t => ids.has(t.heldBy));
    return h('section', {class: 'stuck'}, h('h2', {}, group.title),
        isCycle && group.threads.length <= 16 && this.picture(group.threads),
        group.threads.map(t => h('details', {open: !isCycle || this.fits(t)}, h('summary', {},
            `thread ${t.id} \u201c${t.name}\u201d, ${t.grade}: has waited ${t.waited} for ${t.wait}`),
            this.stack(t.stack), t.holds.map(hold => [h('div', {}, 'holds ' + hold.name), this.stack(hold.stack)]))));
  }

  stack(frames) {
    return h('div', {class: 'stack'}, frames.map(
        f => h('div', {class: 'frame' + (this.pattern && this.pattern.test(f) ? ' hit' : '')}, f)));
  }

  // Returns whether the search matches a frame in which the thread waits.
  fits(thread) {
    return Boolean(this.pattern) && thread.stack.some(f => this.pattern.test(f));
  }

  // A ring of the threads in the order of their waits, with the locks between them, in
  // two columns: down on the right and up on the left. The columns of a grid fit each
  // window, and its boxes cannot overlap.
  picture(threads) {
    const order = [threads[0]];
    for (let t = threads[0]; order.length < threads.length;) {
      t = threads.find(x => x.id === t.heldBy);
      if (!t || order.includes(t))
        break;
      order.push(t);
    }
    const n = order.length, row = k => k === 0 ? 1 : k <= n ? 2 * k - 1 : 2 * (2 * n - k) + 1;
    const put = (element, column, at) => {
      element.style.gridArea = `${at} / ${column}`;
      return element;
    };
    const box = (k, style, ...lines) =>
      put(h('div', {class: 'ring-box ' + style}, lines), k >= 1 && k <= n ? 3 : 1, row(k));
    const arrow = (k, word) => {
      const [way, column, at] = k === 0 ? ['right', 2, 1] : k === n ? ['left', 2, row(k)] :
          k < n ? ['down', 3, row(k) + 1] : ['up', 1, row(k) - 1];
      return put(h('div', {class: 'ring-arrow ' + way}, word), column, at);
    };
    return h('div', {class: 'ring', role: 'img',
      'aria-label': order.map(t => `thread ${t.id} waits for ${t.wait}, held by thread ` + t.heldBy).join('; ')},
      order.map((t, i) => [arrow(2 * i, 'waits for'), arrow(2 * i + 1, 'held by')]),
      order.map((t, i) => [
        box(2 * i, 'ring-thread', h('div', {class: 'ring-name'}, `${t.name || 'thread'} (${t.id})`),
          h('div', {class: 'place'}, ownPlace(t.stack))),
        box(2 * i + 1, 'ring-lock', t.wait || '')]));
  }

  // Without the report: the threads by the lock for which they wait.
  profileElement(app, profile) {
    const locks = new Map(), shape = shapeOf(app.model, 0, app.selection.std);
    for (let i = 0; i < profile.stackCount; i++) {
      const labels = app.model.labelSets[profile.labels[i]];
      const label = key => (labels.find(l => l[0] === key) || [])[1];
      const name = label('lock') || label('kind') || 'unknown';
      const fn = shape.fn[shape.leaf(profile.nodes[i])];
      const row = `${label('grade') || ''} in ${fn < 0 ? 'unknown code' : briefName(app.model.name(0, fn))}`;
      const map = locks.get(name) || new Map();
      map.set(row, (map.get(row) || 0) + profile.values[0][i]);
      locks.set(name, map);
    }
    return [...locks].map(([name, map]) => h('section', {class: 'lock'}, h('h2', {}, name),
        [...map].map(([row, count]) => h('div', {}, `${counted(count, 'thread')}, ${row}`))));
  }

  search(app) {
    this.show(app);
  }

  // For the search in all views.
  countFound(pattern) {
    this.pattern = pattern;
    return {count: this.groups.flatMap(g => g.threads).filter(t => this.fits(t)).length, noun: 'thread'};
  }
}

// The name of a lock without its address, unless it has no other name.
function lockName(name, kind) {
  const isAddress = /^0x[0-9a-f]+$/.test(name);
  return shortenName((isAddress && kind ? kind + ' ' : '') + name.replace(/ \(0x[0-9a-f]+\)$/, ''), 34);
}
