// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of mprof top (view/functions.c), and its table in the page.

function functionRows(tree) {
  const {model, shape, profile, type, active} = tree;
  const {count} = model.functions[shape.grain];
  const rows = Array.from({length: count}, (_, fn) => ({
    fn, flat: 0, cum: 0, variance: 0, base: 0, baseCum: 0, weight: 0, via: -1,
    file: 0, line: 0, isNew: false // whether the profile has the function
  }));
  for (let n = 1; n < shape.count; n++) {
    const row = rows[shape.fn[n]];
    row.weight += tree.weight[n];
    row.flat += tree.own[n];
    row.variance += tree.ownVariance[n];
    if (shape.outer[n])
      row.cum += tree.total[n];
    if (tree.base) {
      row.base += tree.ownBase[n];
      if (shape.outer[n])
        row.baseCum += tree.totalBase[n];
    }
  }
  addPlaces(model, shape.grain, profile, profile.values[type], active, rows);
  addOwn(tree, rows);
  addSmall(tree, rows);
  return rows.filter(row => row.weight > 0);
}

// Gives the values of small stacks back to their functions. With a filter, it is
// not known which of these stacks are selected.
function addSmall({model, shape, profile, type, active, base}, rows) {
  if (!profile.small || active)
    return;
  const {grain} = shape, {std} = model.functions[grain], lines = model.functions[1];
  const kind = shape.std ? 1 : 0;
  const add = (p, of, flat, cum) => {
    for (const {fn, line, types} of p.smallRows[grain] || []) {
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
  };
  add(profile, type, 'flat', 'cum');
  if (base)
    add(base, base.typeIndex(profile.types[type].name), 'base', 'baseCum');
  Object.assign(rows[model.smallFunctions[grain]], {weight: 0});
}

// Finds where the own value of each function comes from: its place, and the
// library function that it called for two thirds of the value. The place is that
// in the stack with the largest value among those that end with the function and
// its call of this library function; the first one of equal stacks.
function addOwn({model, shape, profile, type, active}, rows) {
  const values = profile.values[type], vias = new Map();
  const of = model.frames[shape.grain], {std} = model.functions[shape.grain];
  const largest = rows.map(() => ({size: 0, node: 0}));
  const note = (entry, size, node) => {
    if (size > entry.size) {
      entry.size = size;
      entry.node = node;
    }
  };
  for (let i = 0; i < profile.stackCount; i++) {
    const leaf = profile.nodes[i], size = Math.abs(values[i]);
    if (!size || !leaf || (active && !active[i]))
      continue;
    let node = leaf;
    while (shape.shown[leaf] && !shape.std && std[of[model.frame[node]]])
      node = model.parent[node];
    const fn = of[model.frame[node]], via = shape.shown[leaf] ? shape.via[leaf] - 1 : -1;
    note(largest[fn], size, node);
    if (via < 0)
      continue;
    const key = fn * 2 ** 26 + via;
    const entry = vias.get(key) || {fn, via, value: 0, size: 0, node: 0};
    entry.value += size;
    note(entry, size, node);
    vias.set(key, entry);
  }
  const setPlace = (fn, node) => {
    const line = model.frames[1][model.frame[node]], lines = model.functions[1];
    rows[fn].file = lines.file[line];
    rows[fn].line = lines.line[line];
  };
  largest.forEach(({node}, fn) => node && setPlace(fn, node));
  for (const {fn, via, value, node} of vias.values()) {
    if (value < Math.abs(rows[fn].flat) * 2 / 3)
      continue;
    rows[fn].via = via;
    setPlace(fn, node);
  }
}

// The place of a function without a value of its own is its line in the stack
// with the largest value; the first one of equal stacks, and the innermost one of
// several frames.
function addPlaces(model, grain, profile, values, active, rows) {
  const best = new Float64Array(model.nodeCount);
  const first = new Uint32Array(model.nodeCount);
  const note = (n, value, stack) => {
    if (value > best[n] || (value === best[n] && value && stack < first[n])) {
      best[n] = value;
      first[n] = stack;
    }
  };
  for (let i = 0; i < profile.stackCount; i++)
    if (values[i] && (!active || active[i]))
      note(profile.nodes[i], Math.abs(values[i]), i);
  for (let n = model.nodeCount - 1; n > 0; n--)
    if (best[n])
      note(model.parent[n], best[n], first[n]);
  const of = model.frames[grain], lines = model.functions[1];
  const chosen = new Uint32Array(rows.length);
  for (let n = 1; n < model.nodeCount; n++) {
    if (!best[n])
      continue;
    const fn = of[model.frame[n]], old = chosen[fn];
    if (!old || best[n] > best[old] || (best[n] === best[old] && first[n] <= first[old]))
      chosen[fn] = n;
  }
  chosen.forEach((n, fn) => {
    if (!n)
      return;
    const line = model.frames[1][model.frame[n]];
    rows[fn].isNew = true;
    rows[fn].file = lines.file[line];
    rows[fn].line = lines.line[line];
  });
}

// The lines of the callers and callees of function fn, by their functions. Of several
// lines, the one with the largest value in stacks with this call is taken.
function callLines({model, shape, profile, base, type}, fn) {
  const total = new Float64Array(model.nodeCount), user = new Uint32Array(model.nodeCount);
  for (const p of base ? [profile, base] : [profile]) {
    const values = p.values[p === profile ? type : p.typeIndex(profile.types[type].name)];
    for (let i = 0; i < p.stackCount; i++)
      total[p.nodes[i]] += Math.abs(values[i]);
  }
  for (let n = model.nodeCount - 1; n > 0; n--)
    total[model.parent[n]] += total[n];
  const of = model.frames[shape.grain], {std} = model.functions[shape.grain];
  const isShown = n => shape.std || !std[of[model.frame[n]]];
  const sums = [new Map(), new Map()];
  const add = (side, n, value) => {
    const name = of[model.frame[n]], line = model.frames[1][model.frame[n]];
    const lines = sums[side].get(name) || new Map();
    sums[side].set(name, lines.set(line, (lines.get(line) || 0) + value));
  };
  for (let n = 1; n < model.nodeCount; n++) {
    const parent = model.parent[n], caller = user[n] = parent && (isShown(parent) ? parent : user[parent]);
    if (!caller || !isShown(n))
      continue;
    if (of[model.frame[n]] === fn)
      add(0, caller, total[n]);
    if (of[model.frame[caller]] === fn)
      add(1, n, total[n]);
  }
  const best = lines => [...lines].reduce((a, b) => b[1] > a[1] ? b : a)[0];
  return sums.map(map => new Map([...map].map(([name, lines]) => [name, best(lines)])));
}

const byName = (a, b) => a < b ? -1 : a > b ? 1 : 0;

// Sorts as mprof top does: key is flat or cum.
function sortRows(model, grain, rows, key) {
  const other = key === 'flat' ? 'cum' : 'flat';
  const {line} = model.functions[grain];
  return rows.sort((a, b) => Math.abs(b[key]) - Math.abs(a[key]) ||
      (a[key] === 0 && Math.abs(b[other]) - Math.abs(a[other])) ||
      byName(model.name(grain, a.fn), model.name(grain, b.fn)) ||
      Math.abs(b[other]) - Math.abs(a[other]) || line[a.fn] - line[b.fn] || a.fn - b.fn);
}

// The place as text, such as "server.cpp:27", or "".
function placeText(model, row) {
  const file = baseName(model.texts[row.file]);
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

// A table with a limited number of rows. columns: {title, text, class, sort,
// key}. Rows can be chosen with the keyboard. moved() is called when the order
// changes.
class RowTable {
  constructor({label, columns, choose, sort, moved}) {
    this.columns = columns;
    this.choose = choose;
    this.sortKey = sort;
    this.moved = moved || (() => {});
    this.limit = 200;
    this.head = h('thead');
    this.body = h('tbody', {onkeydown: e => this.key(e)});
    this.more = h('button', {class: 'more', onclick: () => {
      this.limit *= 10;
      this.draw();
    }});
    this.element = h('div', {class: 'table-box'},
                     h('table', {'aria-label': label}, this.head, this.body), this.more);
  }

  show(rows, resort) {
    this.rows = rows;
    this.resort = resort;
    this.limit = 200;
    this.draw();
  }

  draw() {
    fill(this.head, h('tr', {}, this.columns.filter(c => !c.hidden || !c.hidden()).map(c => {
      const sorted = c.key && c.key === this.sortKey;
      const title = c.key ? h('button', {
        class: 'plain', title: 'Sort by ' + c.title, onclick: () => {
          this.sortKey = c.key;
          this.resort(c.key);
          this.draw();
          this.moved();
        }
      }, c.title, sorted ? ' \u2193' : '') : c.title;
      return h('th', {class: c.class, scope: 'col', 'aria-sort': sorted && 'descending'}, title);
    })));
    const columns = this.columns.filter(c => !c.hidden || !c.hidden());
    fill(this.body, this.rows.slice(0, this.limit).map((row, i) => h('tr', {
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
