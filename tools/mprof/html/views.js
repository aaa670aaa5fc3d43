// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the page that show one profile. A view has an element, and its
// show(app) draws the selection of the app.

class FlameView {
  constructor(app) {
    this.app = app;
    this.title = 'Flame graph';
    this.isUp = false;
    this.flame = new Flame('Flame graph', {
      choose: fn => app.choose(fn), describe: text => app.say(text), hover: lines => this.say(lines),
      moved: () => {
        this.drawPath();
        app.remember();
      }
    });
    this.direction = select('Direction', [
      ['down', 'Callers above callees'], ['up', 'Callees above callers']
    ], 'down', value => {
      this.isUp = value === 'up';
      this.show(app);
      app.remember();
    });
    this.merge = checkbox('merge recursion', 'Shows a function that calls itself as one frame', false,
                          () => {
                            this.show(app);
                            app.remember();
                          });
    this.path = h('nav', {class: 'path', 'aria-label': 'Zoomed frames'});
    this.legend = h('span', {class: 'legend'});
    this.line = h('div', {class: 'hover-line'});
    this.element = h('div', {class: 'view fill'}, h('div', {class: 'bar-row'}, this.direction, this.merge,
        h('button', {title: 'Copies the stack of the chosen frame (c)', onclick: () => this.flame.copy()},
          'Copy stack'), this.legend),
        this.path, this.flame.element, this.line);
    this.say([]);
  }

  // The frame under the pointer, in a line that stays.
  say([name, ...rest]) {
    fill(this.line, name ? [h('strong', {}, name), ' ', rest.join(', ')] :
        'Click zooms, Ctrl+wheel magnifies, Ctrl+click shows callers and callees, / searches, c copies the stack');
  }

  needs(app) {
    return [() => app.tree.areas, () => app.tree.parts,
            () => this.isUp || app.tree.callees.children(app.tree.callees.root)];
  }

  show(app) {
    const {tree} = app;
    const groups = this.isUp ? GroupTree.callers(tree) :
        this.merge.firstChild.checked ? GroupTree.callees(tree, true) : tree.callees;
    this.merge.hidden = this.isUp;
    this.flame.show(groups, app.matches);
    fill(this.legend, tree.base ? [
      h('span', {class: 'key grown'}), 'grown ', h('span', {class: 'key shrunk'}),
      'shrunk; the width is the larger value'
    ] : this.legendEntries());
    this.drawPath();
  }

  // The colours of the libraries, and of the parts of the program.
  legendEntries() {
    const {names, hasOthers} = this.flame.parts;
    const entry = (name, place) => {
      const mark = h('span', {class: 'key'});
      mark.style.background = partColour(place, 0);
      return h('span', {class: 'part', title: name}, mark, shortenName(name, 24) || name);
    };
    return [...names.map(entry), hasOthers && entry('others', OTHER_GROUP)];
  }

  // The frames from the root to the zoomed one; a click zooms out to a frame.
  drawPath() {
    const path = [];
    for (let g = this.flame.zoom; g; g = g.parent)
      path.unshift(g);
    const shown = path.length > 7 ? [path[0], null, ...path.slice(-5)] : path;
    this.path.hidden = path.length < 2;
    fill(this.path, shown.map((g, i) => [i ? h('span', {class: 'place'}, ' \u203a ') : '',
      g === null ? `\u2026 ${path.length - 6} more` : h('button', {
        class: 'plain', title: this.flame.wholeName(g), onclick: () => this.flame.zoomTo(g),
        'aria-current': g === this.flame.zoom ? 'true' : null
      }, shortenName(this.flame.label(g), 28))]));
  }

  search(app) {
    this.flame.search(app.matches);
  }

  takeFocus() {
    this.flame.takeFocus();
  }

  state() {
    return {up: this.isUp ? 1 : null, merge: this.merge.firstChild.checked ? 1 : null, zoom: this.flame.zoomPath().join('.') || null};
  }

  restore(wanted) {
    this.isUp = wanted.get('up') === '1';
    this.direction.value = this.isUp ? 'up' : 'down';
    this.merge.firstChild.checked = wanted.get('merge') === '1';
    this.show(this.app);
    this.flame.zoomToPath((wanted.get('zoom') || '').split('.').filter(Boolean).map(Number));
  }
}

// A name with its place, and the library function that it called.
function nameCell(model, grain, row) {
  if (row.others)
    return [counted(row.others, ['other function', 'other line', 'other file'][grain]) + ' with small values'];
  const name = model.name(grain, row.fn);
  const parts = [h('span', {class: 'name', title: model.wholeName(grain, row.fn)}, briefName(name))];
  const place = grain === 0 ? placeText(model, row) :
      grain === 1 ? placeText(model, {
        file: model.functions[1].file[row.fn], line: model.functions[1].line[row.fn]
      }) : '';
  if (place)
    parts.push(' ', h('span', {class: 'place'}, place));
  if (row.via >= 0)
    parts.push(' ', h('span', {class: 'via', title: model.wholeName(grain, row.via)},
                         'via ' + shortenName(model.name(grain, row.via), 80)));
  return parts;
}

function changeCell(delta, unit) {
  return h('span', {class: delta > 0 ? 'grown' : delta < 0 ? 'shrunk' : ''}, change(delta, unit));
}

class TableView {
  constructor(app) {
    this.app = app;
    this.title = 'Functions';
    const tree = () => app.tree;
    const value = v => quantity(v, tree().unit);
    const compares = () => Boolean(tree().base);
    this.table = new RowTable({
      label: 'Functions', sort: 'flat', choose: row => row.others || app.choose(row.fn),
      moved: () => app.remember(), columns: [
        {title: 'own', class: 'number', key: 'flat',
          text: r => quantityWithError(r.flat, r.variance, tree().unit)},
        {title: 'share', class: 'number', text: r => share(r.flat, tree().sum),
          bar: r => Math.abs(r.flat) / (tree().sum || 1)},
        {title: 'with callees', class: 'number callees', key: 'cum', text: r => value(r.cum)},
        {title: 'share', class: 'number callees', text: r => share(r.cum, tree().sum),
          bar: r => Math.abs(r.cum) / (tree().sum || 1)},
        {title: 'change', class: 'number', key: 'delta', hidden: () => !compares(),
          text: r => changeCell(r.delta, tree().unit)},
        {title: 'change with callees', class: 'number callees', key: 'cumDelta',
          hidden: () => !compares(), text: r => change(r.cumDelta, tree().unit)},
        {title: 'function', class: 'wide', text: r => nameCell(app.model, tree().shape.grain, r)}
      ]
    });
    this.element = h('div', {class: 'view'}, this.table.element);
  }

  needs(app) {
    return [() => app.tree.areas, () => app.rows];
  }

  show(app) {
    const {model, tree} = app, {grain} = tree.shape;
    const rows = app.matches ? app.rows.filter(r => app.matches[r.fn]) : app.rows;
    for (const row of rows) {
      row.delta = row.flat - row.base;
      row.cumDelta = row.cum - row.baseCum;
    }
    const order = key => key === 'flat' || key === 'cum' ? topOrder(model, grain, key) :
        (a, b) => Math.abs(b[key]) - Math.abs(a[key]);
    // A comparison is sorted by the change, until another column is chosen.
    if (Boolean(tree.base) !== this.compared) {
      this.compared = Boolean(tree.base);
      this.table.sortKey = tree.base ? 'delta' : 'flat';
    }
    this.element.classList.toggle('compared', this.compared);
    this.table.show(rows, order);
  }

  search(app) {
    this.show(app);
  }

  state() {
    return {sort: this.table.sortKey};
  }

  restore(wanted) {
    const key = wanted.get('sort');
    if (!this.table.columns.some(c => c.key === key && !(c.hidden && c.hidden())))
      return;
    this.table.sortKey = key;
    this.show(this.app);
  }
}

class SandwichView {
  constructor(app) {
    this.app = app;
    this.title = 'Callers and callees';
    const on = {choose: fn => app.choose(fn), describe: text => app.say(text)};
    this.above = new Flame('Callers', on, true);
    this.below = new Flame('Callees', on);
    const list = (title, side) => new RowTable({
      label: title, sort: 'weight', choose: g => app.choose(g.fn), columns: [
        {title, class: 'wide', text: g => nameCell(app.model, app.tree.shape.grain, this.placeOf(g.fn, side))},
        {title: 'value', class: 'number', key: 'weight', text: g => quantity(g.value, app.tree.unit)},
        {title: 'share', class: 'number', text: g => share(g.weight, this.weight),
          bar: g => g.weight / (this.weight || 1)},
        {title: 'change', class: 'number', key: 'delta', hidden: () => !app.tree.base,
          text: g => changeCell(g.delta, app.tree.unit)}
      ]
    });
    this.callers = list('caller', 0);
    this.callees = list('callee', 1);
    this.head = h('h2');
    this.element = h('div', {class: 'view fill sandwich'}, h('div', {class: 'half'},
        h('div', {class: 'lists'}, this.callers.element), this.above.element),
        this.head,
        h('div', {class: 'half'}, h('div', {class: 'lists'}, this.callees.element),
          this.below.element));
  }

  // The row of a caller or callee, with the line of the call or in the callee.
  placeOf(fn, side) {
    const lines = this.app.model.functions[1], at = this.lines[side].get(fn);
    const {file, line} = this.places.get(fn) || {file: 0, line: 0};
    return at === undefined ? {fn, via: -1, file, line} : {fn, via: -1, file: lines.file[at], line: lines.line[at]};
  }

  // In a comparison, the rows are sorted by the change, until another column is chosen.
  list(table, groups) {
    const {base} = this.app.tree;
    for (const g of groups)
      g.delta = g.value - g.base;
    if (Boolean(base) !== table.compared)
      table.sortKey = base ? 'delta' : 'weight';
    table.compared = Boolean(base);
    table.show(groups, key => (a, b) => Math.abs(b[key]) - Math.abs(a[key]) || b.weight - a.weight || a.fn - b.fn);
  }

  needs(app) {
    return [() => app.tree.areas, () => app.rows, () => app.tree.stackWeights];
  }

  show(app) {
    const {tree, model} = app, {grain} = tree.shape;
    let fn = app.fn;
    if (fn < 0 || !app.rows.some(r => r.fn === fn)) {
      const [first] = firstOf(app.rows, topOrder(model, grain, 'flat'), 1);
      fn = app.fn = first ? first.fn : -1;
    }
    if (fn < 0) {
      fill(this.head, 'No stack is selected');
      return;
    }
    const row = app.rows.find(r => r.fn === fn);
    const name = model.name(grain, fn), whole = this.head.title = model.wholeName(grain, fn);
    fill(this.head, nameCell(model, grain, {...row, via: -1, others: 0}), h('small', {},
        `${quantity(row.flat, tree.unit)} own, ${quantity(row.cum, tree.unit)} with callees ` +
        `(${share(row.cum, tree.sum)})` + (tree.base ? ', change ' + change(row.cum - row.baseCum, tree.unit) : '')), whole !== name && h('div', {class: 'whole-name'}, whole));
    const {up, down} = GroupTree.around(tree, fn);
    this.weight = down.root.weight;
    this.lines = callLines(tree, fn);
    this.places = new Map(app.rows.map(other => [other.fn, other]));
    this.list(this.callers, up.children(up.root));
    this.list(this.callees, down.children(down.root));
    this.above.show(up, app.matches);
    this.below.show(down, app.matches);
  }

  search(app) {
    this.above.search(app.matches);
    this.below.search(app.matches);
  }
}

// The number of lines with values that a file shows first. When the files that are
// shown have so many, others are closed.
const OPEN_LINES = 80;

// Source lines with values, by file, as in mprof list.
class LinesView {
  constructor(app) {
    this.title = 'Source lines';
    this.list = h('div', {class: 'sources'});
    this.element = h('div', {class: 'view'}, this.list);
  }

  needs(app) {
    return [() => app.lineTree.areas, () => app.lineRows];
  }

  show(app) {
    const {model, lineTree: tree, lineRows: rows} = app;
    const files = new Map(), {file, line, std} = model.functions[1];
    const {pattern} = app, matches = pattern && matchingFunctions(model, 1, pattern), inFile = fileTest(model, pattern);
    for (const row of rows) {
      if (!file[row.fn] || line[row.fn] <= 0 || (std[row.fn] && !app.selection.std))
        continue;
      if (matches && !matches[row.fn] && !inFile(file[row.fn]))
        continue;
      let entry = files.get(file[row.fn]);
      if (!entry) {
        entry = {file: file[row.fn], all: [], flat: 0, base: 0, cum: 0};
        files.set(file[row.fn], entry);
      }
      entry.all.push(row);
      entry.flat += Math.abs(row.flat);
      entry.base += Math.abs(row.base);
      entry.cum = Math.max(entry.cum, Math.abs(row.cum));
    }
    const sorted = [...files.values()].sort((a, b) =>
        Math.max(b.flat, b.base) - Math.max(a.flat, a.base) || b.cum - a.cum);
    const shown = sorted.slice(0, 60), rest = rows.find(row => row.others);
    let open = 0;
    fill(this.list, shown.map((f, i) => {
      const isOpen = i < 5 && open < OPEN_LINES;
      open += f.all.length;
      return this.fileElement(model, tree, f, isOpen);
    }),
         sorted.length > shown.length && h('p', {class: 'note'},
             `Files with smaller values, not shown: ${sorted.length - shown.length}. Search for a name.`),
         rest && h('p', {class: 'note'}, `${counted(rest.others, 'other line')} with small values, ` +
             `${quantity(rest.flat, tree.unit)} own in all, ${rest.others === 1 ? 'is' : 'are'} not shown.`),
         !sorted.length && h('p', {class: 'note'}, 'No frame with a known source line matches.'));
  }

  fileElement(model, tree, entry, isOpen) {
    const source = model.sources.get(entry.file);
    const body = h('tbody'), draw = limit => fill(body, this.lines(tree, entry, source, limit, draw));
    const details = h('details', {open: isOpen, ontoggle: () => {
      if (details.open && !body.childElementCount)
        draw(OPEN_LINES);
    }}, h('summary', {}, h('span', {class: 'name', title: model.texts[entry.file]}, briefName(model.texts[entry.file])),
          ' ', h('span', {class: 'place'}, quantity(entry.flat, tree.unit) + ' own' +
              (tree.base ? ', change ' + change(entry.flat - entry.base, tree.unit) : ''))),
        h('div', {class: 'lines'}, h('table', {class: 'code'}, h('thead', {}, h('tr', {},
            h('th', {class: 'number'}, 'own'), tree.base && h('th', {class: 'number'}, 'change'),
            h('th', {class: 'number'}, 'with callees'),
            h('th', {class: 'number'}, 'line'),
            h('th', {class: 'wide'}, source ? 'source' : 'function'))), body)));
    if (isOpen)
      draw(OPEN_LINES);
    return details;
  }

  // The values of the lines of a file, by their numbers: the largest ones.
  values(tree, entry, limit) {
    const {line} = tree.model.functions[1], lines = new Map();
    for (const {fn, flat, base, cum} of entry.all) {
      const old = lines.get(line[fn]);
      if (old) {
        old.flat += flat;
        old.base += base;
        old.cum = Math.max(old.cum, cum);
      } else {
        lines.set(line[fn], {number: line[fn], fn, flat, base, cum});
      }
    }
    const own = ({flat, base}) => Math.max(Math.abs(flat), Math.abs(base));
    const largest = firstOf(lines.values(), (a, b) => own(b) - own(a) ||
        Math.abs(b.cum) - Math.abs(a.cum) || a.number - b.number, limit);
    return {rows: new Map(largest.map(row => [row.number, row])), left: lines.size - largest.length};
  }

  // draw(limit): shows more lines
  lines(tree, entry, source, limit, draw) {
    const {rows, left} = this.values(tree, entry, limit);
    const numbers = source ? [...source.keys()].filter(n => this.isNear(rows, n)) : [];
    const all = [...new Set([...numbers, ...rows.keys()])].sort((a, b) => a - b);
    let last = 0;
    const shown = all.flatMap(number => {
      const row = rows.get(number);
      const gap = last && number > last + 1;
      last = number;
      const text = source && source.has(number) ? source.get(number) :
          row ? briefName(tree.model.name(1, row.fn)) : '';
      return [gap && h('tr', {class: 'gap'}, h('td', {colspan: tree.base ? 5 : 4}, '\u22ef')),
        h('tr', {class: row ? 'hit' : ''},
          this.cell(row && row.flat, tree),
          tree.base && h('td', {class: 'number'}, row && row.flat !== row.base ? changeCell(row.flat - row.base, tree.unit) : ''),
          this.cell(row && row.cum, tree),
          h('td', {class: 'number'}, String(number)), h('td', {class: 'source'}, text))];
    }).filter(Boolean);
    if (left)
      shown.push(h('tr', {class: 'gap'}, h('td', {colspan: tree.base ? 5 : 4}, h('button', {
        class: 'more', onclick: () => draw(10 * limit)
      }, `Show more (${counted(left, 'line')} with smaller values)`))));
    return shown;
  }

  isNear(rows, number) {
    for (let i = -5; i <= 5; i++)
      if (rows.has(number + i))
        return true;
    return false;
  }

  cell(value, tree) {
    const cell = h('td', {class: 'number bar'}, value ? quantity(value, tree.unit) : '');
    cell.style.setProperty('--part', 100 * Math.min(1, Math.abs(value || 0) / (tree.sum || 1)) + '%');
    return cell;
  }

  search(app) {
    this.show(app);
  }
}

// Labels that MProf itself adds. Those of the program come first.
const OWN_LABELS = new Set(['bytes', 'heap_rate', 'lifetime', 'kind', 'lock', 'holder', 'state', 'grade',
  'thread', 'cycle', 'step', 'other_cycles']);

// The sums of the values of each label, or of one. active: flags of stacks, or null
// for all. of: returns the number that a stack adds.
function labelSums(model, profile, type, active, only, of = i => profile.values[type][i]) {
  const keys = new Map(), values = profile.values[type];
  const sums = new Float64Array(model.labelSets.length), hasValue = new Uint8Array(sums.length);
  for (let i = 0; i < profile.stackCount; i++) {
    if (!values[i] || (active && !active[i]))
      continue;
    sums[profile.labels[i]] += of(i);
    hasValue[profile.labels[i]] = 1;
  }
  for (let set = 0; set < sums.length; set++)
    for (const [key, value] of hasValue[set] ? model.labelSets[set] : []) {
      if (only !== null && key !== only)
        continue;
      const map = keys.get(key) || new Map();
      map.set(value, (map.get(value) || 0) + sums[set]);
      keys.set(key, map);
    }
  return keys;
}

// The labels of the stacks, which select stacks when they are chosen.
class LabelsView {
  constructor(app) {
    this.app = app;
    this.title = 'Labels';
    this.element = h('div', {class: 'view labels'});
  }

  show(app) {
    const {profile, type} = app.tree;
    const keys = labelSums(app.model, profile, type, app.tree.active, null);
    // The other values of a chosen label are shown as if it were not chosen.
    for (const {key} of app.selection.labels) {
      const labels = app.selection.labels.filter(l => l.key !== key);
      const active = selectStacks(app.model, {...app.selection, labels}, profile);
      keys.set(key, labelSums(app.model, profile, type, active, key).get(key) || new Map());
    }
    const sorted = [...keys].sort((a, b) => OWN_LABELS.has(a[0]) - OWN_LABELS.has(b[0]) || byName(a[0], b[0]));
    fill(this.element, sorted.map(([key, map]) => this.keyElement(app, key, map)),
         !keys.size && h('p', {class: 'note'}, 'The selected stacks have no labels.'));
  }

  keyElement(app, key, map) {
    const largest = firstOf(map, (a, b) => Math.abs(b[1]) - Math.abs(a[1]), 40);
    const chosen = app.selection.labels.filter(l => l.key === key).map(l => l.value);
    let most = 0;
    for (const value of map.values())
      most += Math.abs(value);
    return h('section', {}, h('h2', {}, key, h('small', {}, counted(map.size, 'value'))),
             largest.map(([value, sum]) => {
               const button = h('button', {
                 class: 'label bar', 'aria-pressed': chosen.includes(value) ? 'true' : 'false',
                 onclick: () => app.chooseLabel(key, value)
               }, h('span', {title: value}, briefName(value)),
                 h('span', {class: 'place'}, quantity(sum, app.tree.unit)));
               button.style.setProperty('--part', 100 * Math.abs(sum) / (most || 1) + '%');
               return button;
             }), map.size > 40 && h('p', {class: 'note'}, counted(map.size - 40, 'more value')));
  }

  search() {}
}

function keyList() {
  return h('ul', {}, [
    '/ searches; Escape ends the search; ? shows this list',
    '0 to 9 choose a view; [ and ] choose the values',
    'Flame graph: arrow keys move, Enter zooms, Backspace and Escape zoom out, ' +
        '+ and \u2212 magnify, s shows callers and callees, c copies the stack',
    'Tables: arrow keys move, Enter shows callers and callees',
    'Timeline: a and d move, w and s zoom, f shows the selected wait, g goes to what ended it, ' +
        'G goes back, h folds the rows of its thread or group, n and N step through what the search finds, ' +
        't and T through tasks'
  ].map(t => h('li', {}, t)));
}

class AboutView {
  constructor() {
    this.title = 'About';
    this.element = h('div', {class: 'view about', tabindex: 0, role: 'region', 'aria-label': 'About the profile'});
  }

  show(app) {
    const {profile} = app.selection;
    fill(this.element, h('h2', {}, profile.name), h('table', {}, h('tbody', {}, profile.types.map(t =>
      h('tr', {}, h('td', {}, t.name), h('td', {class: 'number'}, quantity(t.total, t.unit)),
        h('td', {}, t.sampled ? 'estimated from samples' : 'exact'))))),
        h('ul', {}, profile.comments.map(c => h('li', {}, c))), h('h2', {}, 'Keys'), keyList());
  }

  search() {}
}
