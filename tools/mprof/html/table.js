// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of mprof top (view/functions.c), and its table in the page.

function functionRows(tree) {
  const {model, shape, profile, type, active} = tree;
  const {count} = model.functions[shape.grain], {runs: {start}, fn, outer} = shape;
  const column = () => new Float64Array(count);
  const flat = column(), cum = column(), variance = column(), base = column(), baseCum = column();
  const addOuter = (sums, totals) => {
    for (let r = 1; r < totals.length; r++) {
      const total = totals[r];
      if (total)
        for (let n = start[r], end = start[r + 1]; n < end; n++)
          if (outer[n])
            sums[fn[n]] += total;
    }
  };
  addOuter(cum, tree.total);
  if (tree.base)
    addOuter(baseCum, tree.totalBase);
  for (let r = 1; r < tree.weight.length; r++) {
    const leaf = fn[start[r + 1] - 1];
    flat[leaf] += tree.own[r];
    variance[leaf] += tree.ownVariance[r];
    if (tree.base)
      base[leaf] += tree.ownBase[r];
  }
  const rows = Array.from({length: count}, (_, f) => ({
    fn: f, flat: flat[f], cum: cum[f], variance: variance[f], base: base[f], baseCum: baseCum[f],
    weight: tree.areas[f], via: -1, file: 0, line: 0, others: 0, isNew: false // whether the profile has the function
  }));
  // Some functions of a comparison may be only in the old profile.
  const hasOwn = addOwn(tree, rows);
  if (tree.base || rows.some((row, f) => row.weight > 0 && !hasOwn[f]))
    addPlaces(tree, hasOwn, rows);
  else
    for (const row of rows)
      row.isNew = row.weight > 0;
  addSmall(tree, rows);
  return rows.filter(row => row.weight > 0);
}

// Gives the values of small stacks back to their functions. With a filter, it is
// not known which of these stacks are selected. others: of the row for the functions
// whose own losses are not known, their number.
function addSmall({model, shape, profile, type, active, base}, rows) {
  if (!profile.small || active)
    return;
  const {grain} = shape, {std} = model.functions[grain], lines = model.functions[1];
  const kind = shape.std ? 1 : 0, rest = rows[model.smallFunctions[grain]];
  Object.assign(rest, {weight: 0, flat: 0, cum: 0, variance: 0, base: 0, baseCum: 0, isNew: false});
  const add = (p, of, flat, cum) => {
    if (!p.small)
      return;
    for (const {fn, line, types} of p.smallRows[grain]) {
      const row = rows[fn], lost = types[of];
      if (std[fn] && !shape.std)
        continue;
      row[flat] += lost.flat[kind];
      row[cum] += lost.cum;
      row.weight += Math.abs(lost.cum) + Math.abs(lost.flat[kind]);
      if (p !== profile)
        continue;
      row.variance += lost.variance[kind];
      if (!row.isNew && (lost.cum || lost.flat[kind])) {
        row.isNew = true;
        row.file = lines.file[line];
        row.line = lines.line[line];
      }
    }
    const {count, types} = p.smallRests[grain];
    rest.others = Math.max(rest.others, count);
    rest[flat] += types[of][kind];
    rest[cum] = rest[flat];
    rest.weight += Math.abs(types[of][kind]);
  };
  add(profile, type, 'flat', 'cum');
  if (base)
    add(base, base.typeIndex(profile.types[type].name), 'base', 'baseCum');
  rest.isNew = rest.weight > 0;
}

// Finds where the own value of each function comes from: its place, and the
// library function that it called for two thirds of the value. The place is that
// in the stack with the largest value among those that end with the function and
// its call of this library function; the first one of equal stacks.
// Returns a number for each function that is not 0 if it has a value of its own.
function addOwn({model, shape, profile, type, active}, rows) {
  const values = profile.values[type], vias = new Map(), {parent, frame} = model;
  const of = model.frames[shape.grain], {std} = model.functions[shape.grain];
  const largest = new Float64Array(rows.length), largestNode = new Uint32Array(rows.length);
  for (let i = 0; i < profile.stackCount; i++) {
    const leaf = profile.nodes[i], size = Math.abs(values[i]);
    if (!size || !leaf || (active && !active[i]))
      continue;
    let node = leaf, via = -1;
    while (shape.shown[leaf] && !shape.std && std[of[frame[node]]]) {
      via = of[frame[node]];
      node = parent[node];
    }
    const fn = of[frame[node]];
    if (size > largest[fn]) {
      largest[fn] = size;
      largestNode[fn] = node;
    }
    if (via < 0)
      continue;
    const key = fn * 2 ** 26 + via;
    const entry = vias.get(key) || {fn, via, value: 0, size: 0, node: 0};
    entry.value += size;
    if (size > entry.size) {
      entry.size = size;
      entry.node = node;
    }
    vias.set(key, entry);
  }
  const setPlace = (fn, node) => {
    const line = model.frames[1][frame[node]], lines = model.functions[1];
    rows[fn].file = lines.file[line];
    rows[fn].line = lines.line[line];
  };
  largestNode.forEach((node, fn) => node && setPlace(fn, node));
  for (const {fn, via, value, node} of vias.values()) {
    if (value < Math.abs(rows[fn].flat) * 2 / 3)
      continue;
    rows[fn].via = via;
    setPlace(fn, node);
  }
  return largestNode;
}

// The place of a function without a value of its own is its line in the stack
// with the largest value; the first one of equal stacks, and the innermost one of
// several frames. hasOwn: flags of functions with a value of their own.
function addPlaces({model, shape: {grain}, profile, type, active}, hasOwn, rows) {
  const {runs, frame} = model, {up, start} = runs, values = profile.values[type];
  const best = new Float64Array(runs.count), first = new Uint32Array(runs.count);
  const note = (r, value, stack) => {
    if (value > best[r] || (value === best[r] && value && stack < first[r])) {
      best[r] = value;
      first[r] = stack;
    }
  };
  for (let i = 0; i < profile.stackCount; i++)
    if (values[i] && (!active || active[i]))
      note(runs.of[profile.nodes[i]], Math.abs(values[i]), i);
  for (let r = runs.count - 1; r > 0; r--)
    if (best[r])
      note(up[r], best[r], first[r]);
  const of = model.frames[grain], lines = model.functions[1];
  const chosen = new Uint32Array(rows.length), chosenBest = new Float64Array(rows.length),
      chosenFirst = new Uint32Array(rows.length);
  for (let r = 1; r < runs.count; r++) {
    const value = best[r], stack = first[r];
    if (!value)
      continue;
    for (let n = start[r]; n < start[r + 1]; n++) {
      const fn = of[frame[n]];
      if (value < chosenBest[fn] || (value === chosenBest[fn] && stack > chosenFirst[fn]))
        continue;
      chosen[fn] = n;
      chosenBest[fn] = value;
      chosenFirst[fn] = stack;
    }
  }
  chosen.forEach((n, fn) => {
    if (!n)
      return;
    const line = model.frames[1][frame[n]];
    rows[fn].isNew = true;
    if (hasOwn[fn])
      return;
    rows[fn].file = lines.file[line];
    rows[fn].line = lines.line[line];
  });
}

// The lines of the callers and callees of function fn, by their functions. Of several
// lines, the one with the largest value in stacks with this call is taken.
function callLines(tree, fn) {
  const {model: {runs, frame, frames, functions}, shape: {grain, std: showsAll}} = tree;
  const of = frames[grain], {std} = functions[grain], weights = tree.stackWeights;
  const isHidden = n => std[of[frame[n]]] && !showsAll;
  const sums = [new Map(), new Map()];
  const add = (side, n, weight) => {
    const name = of[frame[n]], line = frames[1][frame[n]];
    const lines = sums[side].get(name) || new Map();
    sums[side].set(name, lines.set(line, (lines.get(line) || 0) + weight));
  };
  const addCall = n => {
    let caller = runs.parent(n);
    while (caller && isHidden(caller))
      caller = runs.parent(caller);
    if (caller)
      add(0, caller, weights[runs.of[n]]);
    for (const open = [n]; open.length;)
      for (let c = runs.firstChild(open.pop()); c; c = runs.nextSibling(c))
        if (isHidden(c))
          open.push(c);
        else if (weights[runs.of[c]])
          add(1, c, weights[runs.of[c]]);
  };
  const isWanted = of.map(name => name === fn);
  for (let n = 1; n < frame.length; n++)
    if (isWanted[frame[n]] && weights[runs.of[n]] && !isHidden(n))
      addCall(n);
  const best = lines => [...lines].reduce((a, b) => b[1] > a[1] ? b : a)[0];
  return sums.map(map => new Map([...map].map(([name, lines]) => [name, best(lines)])));
}

const byName = (a, b) => a < b ? -1 : a > b ? 1 : 0;

// Returns the first rows of an order, without sorting the others.
function firstOf(rows, compare, limit) {
  let first = [], last = null;
  for (const row of rows) {
    if (last && compare(row, last) >= 0)
      continue;
    first.push(row);
    if (first.length < 2 * limit)
      continue;
    first = first.sort(compare).slice(0, limit);
    last = first[limit - 1];
  }
  return first.sort(compare).slice(0, limit);
}

// Returns the order of mprof top: key is flat or cum.
function topOrder(model, grain, key) {
  const other = key === 'flat' ? 'cum' : 'flat';
  const {line} = model.functions[grain];
  return (a, b) => Math.abs(b[key]) - Math.abs(a[key]) ||
      (a[key] === 0 && Math.abs(b[other]) - Math.abs(a[other])) ||
      byName(model.name(grain, a.fn), model.name(grain, b.fn)) ||
      Math.abs(b[other]) - Math.abs(a[other]) || line[a.fn] - line[b.fn] || a.fn - b.fn;
}

// The place as text, such as "server.cpp:27", or "".
function placeText(model, row) {
  const file = shortenName(baseName(model.texts[row.file]), 80);
  return file && row.line > 0 ? file + ':' + row.line : file;
}

// The same text as mprof top --format csv, without functions of the old profile.
function rowsAsCsv(tree, rows) {
  const {model, shape, unit} = tree;
  const quote = text => {
    text = text.replace(/[\u0000-\u001f\u007f]/g, '?').replace(/"/g, '""');
    return '"' + (/^[=+@-]/.test(text) ? '\'' : '') + text + '"';
  };
  return 'flat,cum,unit,function,file,line\n' + rows.filter(r => r.isNew).map(r => [
    r.flat.toFixed(0), r.cum.toFixed(0), quote(unit), quote(model.name(shape.grain, r.fn)),
    quote(model.texts[r.file]), r.line
  ].join(',') + '\n').join('');
}

const FIRST_ROWS = 100;

// A table with a limited number of rows. columns: {title, text, class, sort,
// key}. Rows can be chosen with the keyboard. moved() is called when the order
// changes.
class RowTable {
  constructor({label, columns, choose, sort, moved}) {
    this.columns = columns;
    this.choose = choose;
    this.sortKey = sort;
    this.moved = moved || (() => {});
    this.limit = FIRST_ROWS;
    this.head = h('thead');
    this.body = h('tbody', {onkeydown: e => this.key(e)});
    this.more = h('button', {class: 'more', onclick: () => {
      this.limit *= 10;
      this.draw();
    }});
    this.element = h('div', {class: 'table-box'},
                     h('table', {'aria-label': label}, this.head, this.body), this.more);
  }

  // order: returns how rows are compared for the key of a column
  show(rows, order) {
    this.rows = rows;
    this.order = order;
    this.limit = FIRST_ROWS;
    this.draw();
  }

  draw() {
    fill(this.head, h('tr', {}, this.columns.filter(c => !c.hidden || !c.hidden()).map(c => {
      const sorted = c.key && c.key === this.sortKey;
      const title = c.key ? h('button', {
        class: 'plain', title: 'Sort by ' + c.title, onclick: () => {
          this.sortKey = c.key;
          this.draw();
          this.moved();
        }
      }, c.title, sorted ? ' \u2193' : '') : c.title;
      return h('th', {class: c.class, scope: 'col', 'aria-sort': sorted && 'descending'}, title);
    })));
    const columns = this.columns.filter(c => !c.hidden || !c.hidden());
    fill(this.body, firstOf(this.rows, this.order(this.sortKey), this.limit).map((row, i) => h('tr', {
      tabindex: i ? -1 : 0, onclick: () => this.choose && this.choose(row)
    }, columns.map(c => {
      const cell = h('td', {class: c.class});
      const text = c.text(row);
      cell.append(...(Array.isArray(text) ? text : [text]));
      if (c.bar) {
        cell.classList.add('bar');
        cell.style.setProperty('--part', Math.min(1, c.bar(row)) * 100 + '%');
      }
      return cell;
    }))));
    this.more.hidden = this.rows.length <= this.limit;
    this.more.textContent = this.more.hidden ? '' :
        `Show more (${this.rows.length - this.limit} of ${this.rows.length} are not shown)`;
  }

  key(event) {
    const row = event.target.closest('tr');
    const moves = {ArrowDown: 1, j: 1, ArrowUp: -1, k: -1};
    if (event.key === 'Enter') {
      row.click();
    } else if (event.key in moves) {
      const next = moves[event.key] > 0 ? row.nextElementSibling : row.previousElementSibling;
      if (next) {
        row.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      }
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
