// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page: its head with the menus, and the views.

class App {
  constructor(model) {
    this.model = model;
    this.pattern = this.matches = null;
    this.fn = -1;
    const shown = model.profiles.filter(p => p.role !== 'base');
    this.profiles = shown;
    // Begin with the newest snapshot, or with the profile that has the values of
    // --sample, or with the heap, or, if the heap profile is empty, with another
    // profile.
    const hasValues = p => p.types.some(t => t.total > 0);
    const running = shown.filter(p => p.role === 'snapshot' && !p.isAtExit());
    const profile = running[running.length - 1] || shown.find(p => p.typeIndex(model.start.type) >= 0) ||
        shown.find(p => p.kind === 'heap' && hasValues(p)) || shown.find(hasValues) || shown[0];
    if (profile) {
      this.selection = {
        profile, type: this.startType(profile), base: this.baseOf(profile),
        grain: model.start.grain, std: model.start.std, labels: [], only: null
      };
    }
  }

  startType(profile) {
    const named = profile.typeIndex(this.model.start.type);
    if (named >= 0)
      return named;
    // A program that has freed all its memory still has allocated some. Compared
    // profiles and snapshots begin with the same values.
    const {types, type} = profile;
    const isUsed = this.model.profiles.some(p => (p === profile || this.areLike(profile, p)) &&
        p.types[p.typeIndex(types[type].name)].total > 0);
    const other = types.findIndex(t => t.total > 0 && t.unit === types[type].unit);
    return isUsed || other < 0 ? type : other;
  }

  // The profile of --base with which a profile is compared.
  baseOf(profile) {
    return this.model.profiles.find(p => p.role === 'base' && this.areLike(p, profile)) || null;
  }

  areLike(a, b) {
    return a !== b && a.kind === b.kind && a.types.every(t => b.typeIndex(t.name) >= 0) &&
        a.types.length === b.types.length;
  }

  compute() {
    this.tree = new Tree(this.model, this.selection);
    this.rows = functionRows(this.tree);
    this.matches = this.pattern &&
        matchingFunctions(this.model, this.selection.grain, this.pattern);
  }

  // Changes the selection and draws the page.
  select(changes) {
    if ('grain' in changes)
      this.fn = -1;
    Object.assign(this.selection, changes);
    this.compute();
    this.drawHead();
    this.drawView();
  }

  choose(fn) {
    this.fn = fn;
    this.open(this.views.findIndex(v => v instanceof SandwichView));
  }

  addLabel(key, value) {
    this.select({labels: [...this.selection.labels, {key, value}]});
  }

  say(text) {
    this.status.textContent = text;
  }

  // --- the head

  drawHead() {
    const {selection: s, model} = this;
    const menus = [];
    if (!s) {
      fill(this.menus);
      return;
    }
    if (this.profiles.length > 1)
      menus.push(select('Profile', this.profiles.map(p => [p.index, this.profileName(p)]),
                        s.profile.index, i => this.selectProfile(model.profiles[i])));
    menus.push(this.typeMenu());
    const others = model.profiles.filter(p => this.areLike(p, s.profile));
    if (others.length)
      menus.push(select('Compare with', [['', 'no comparison'], ...others.map(
          p => [p.index, 'compared with ' + this.profileName(p)])], s.base ? s.base.index : '',
                        i => this.select({base: i === '' ? null : model.profiles[i]})));
    menus.push(select('Add up by', [[0, 'by function'], [1, 'by line'], [2, 'by file']], s.grain,
                      grain => this.select({grain: Number(grain)})));
    menus.push(checkbox('library frames', 'Shows functions of the standard libraries on their own',
                        s.std, std => this.select({std})));
    const chips = s.labels.map((l, i) => h('button', {
      class: 'chip', title: 'Remove this filter',
      onclick: () => this.select({labels: s.labels.filter((_, k) => k !== i)})
    }, `${l.key}=${l.value} \u00d7`));
    fill(this.menus, menus, chips);
    this.drawTotal();
  }

  profileName(p) {
    const time = p.role === 'snapshot' && p.time ? ' ' + dateText(p.time).slice(11, 19) : '';
    const name = this.profiles.some(q => q !== p && q.kind === p.kind) || p.role === 'base' ?
        `${p.kind}: ${p.name}` : p.kind;
    return name + time;
  }

  selectProfile(profile) {
    const type = profile.typeIndex(this.selection.profile.types[this.selection.type].name);
    this.fn = -1;
    this.select({
      profile, type: type >= 0 ? type : profile.type,
      base: this.selection.base && this.areLike(this.selection.base, profile) ?
          this.selection.base : this.baseOf(profile), labels: []
    });
  }

  typeMenu() {
    const {profile, type} = this.selection;
    return select('Values', profile.types.map((t, i) => [i, t.name]), type,
                  i => this.select({type: Number(i)}));
  }

  drawTotal() {
    const {tree, selection: s} = this, {unit, total} = s.profile.types[s.type];
    const parts = [quantityWithError(tree.sum, tree.variance, unit) + ' in total'];
    if (!tree.weight[0])
      parts[0] = `No stack has ${s.profile.types[s.type].name}` + (s.labels.length || s.only ?
          ' among the selected ones' : '; the first menu has other values');
    if (tree.sum !== total)
      parts.push(`${share(tree.sum, total)} of the profile\u2019s ${quantity(total, unit)}`);
    if (tree.base)
      parts.push(`before ${quantity(tree.baseSum, unit)}, change ` +
          change(tree.total[0] - tree.totalBase[0], unit));
    if (this.matches)
      parts.push(`${share(this.foundWeight(), tree.weight[0])} in stacks that match`);
    fill(this.total, parts.join('; '));
    fill(this.losses, this.lossTexts(s.profile).map(t => h('p', {class: 'loss'}, t)));
  }

  lossTexts(profile) {
    const texts = profile.lost.map(text => text.replace(/^lost: /, 'Lost: '));
    return texts;
  }

  // The weight of all stacks that contain a function that the search found.
  foundWeight() {
    const {tree, matches} = this, {shape} = tree;
    const inside = new Uint8Array(shape.count);
    let sum = 0;
    for (let n = 1; n < shape.count; n++) {
      inside[n] = inside[shape.parent[n]];
      if (!inside[n] && matches[shape.fn[n]]) {
        inside[n] = 1;
        sum += tree.weight[n];
      }
    }
    return sum;
  }

  search(text) {
    this.pattern = null;
    let isWrong = false;
    try {
      this.pattern = text ? new RegExp(text, 'i') : null;
    } catch (error) {
      isWrong = true;
    }
    this.searchBox.setAttribute('aria-invalid', isWrong);
    if (!this.selection)
      return;
    if (this.selection.only || this.wantsOnly) {
      this.select({only: this.wantsOnly ? this.pattern : null});
      return;
    }
    this.matches = this.pattern &&
        matchingFunctions(this.model, this.selection.grain, this.pattern);
    this.drawTotal();
    this.views[this.current].search(this);
  }

  // --- the views

  makeViews() {
    const views = [];
    if (this.model.profiles.length)
      views.push(new FlameView(this), new TableView(this), new SandwichView(this),
                 new LinesView(this));
    if (this.model.labelSets.some(set => set.length))
      views.push(new LabelsView(this));
    views.push(...moreViews(this));
    if (this.model.profiles.length)
      views.push(new AboutView(this));
    return views;
  }

  open(index) {
    this.current = index;
    this.tabs.querySelectorAll('button').forEach((tab, i) => {
      tab.setAttribute('aria-selected', i === index);
      tab.tabIndex = i === index ? 0 : -1;
    });
    fill(this.main, this.views[index].element);
    document.body.dataset.view = this.views[index].title;
    this.drawView();
  }

  drawView() {
    tip.hide();
    this.views[this.current].show(this);
  }

  build() {
    this.views = this.makeViews();
    this.menus = h('div', {class: 'menus'});
    this.total = h('p', {class: 'total'});
    this.losses = h('div');
    this.status = h('div', {class: 'status', role: 'status', 'aria-live': 'polite'});
    this.searchBox = h('input', {
      type: 'search', placeholder: 'Search (regular expression)', 'aria-label': 'Search', size: 28,
      oninput: () => this.search(this.searchBox.value)
    });
    const only = checkbox('only matches', 'Shows only stacks that match the search', false, on => {
      this.wantsOnly = on;
      this.select({only: on ? this.pattern : null});
    });
    this.tabs = h('div', {class: 'tabs', role: 'tablist', onkeydown: e => this.tabKey(e)},
                  this.views.map((view, i) => h('button', {
                    role: 'tab', onclick: () => this.open(i)
                  }, view.title)));
    this.main = h('main', {role: 'tabpanel'});
    document.body.append(h('header', {}, h('div', {class: 'title-row'}, h('h1', {}, this.title()),
        h('div', {class: 'search'}, this.selection && only, this.searchBox)),
        this.menus, this.total, this.losses, this.tabs), this.main, this.status);
    addEventListener('keydown', e => this.key(e));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', Picture.redrawAll);
    addEventListener('beforeprint', () => Picture.print(true));
    addEventListener('afterprint', () => Picture.print(false));
    matchMedia('print').addEventListener('change', e => Picture.print(e.matches));
  }

  title() {
    const first = this.profiles[0];
    const command = first && first.comment('command');
    const trace = this.model.traces[0];
    const [report] = this.model.reports;
    const name = command || (first && first.name) || (trace && trace.name) ||
        (report && report.name) || 'MProf';
    document.title = baseName(name.split(' ')[0]) + ' \u2013 MProf';
    const when = first && dateText(first.time);
    return [name, when && h('small', {}, when), first && first.files > 1 &&
        h('small', {}, `${first.files} files`)].filter(Boolean);
  }

  // Snapshots are given for their growth.
  firstView() {
    return Math.max(0, this.views.findIndex(v => v instanceof SeriesView));
  }

  tabKey(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step)
      return;
    const count = this.views.length;
    this.open((this.current + step + count) % count);
    this.tabs.children[this.current].focus();
    event.preventDefault();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.target === this.searchBox) {
      if (event.key === 'Escape') {
        this.searchBox.value = '';
        this.search('');
        this.searchBox.blur();
      }
      return;
    }
    if (/^(INPUT|SELECT)$/.test(event.target.tagName))
      return;
    if (event.key === '/') {
      this.searchBox.focus();
      this.searchBox.select();
    } else if (event.key >= '1' && event.key <= '9' && this.views[event.key - 1]) {
      this.open(event.key - 1);
    } else if ((event.key === '[' || event.key === ']') && this.selection) {
      const {profile, type} = this.selection, count = profile.types.length;
      this.select({type: (type + (event.key === ']' ? 1 : count - 1)) % count});
    } else {
      return;
    }
    event.preventDefault();
  }
}

// For tests: "#csv&type=T&grain=G&std=1&label=K=V&profile=N" replaces the page by
// the table of mprof top. "#trace" shows the sums of a trace. "#all" opens all
// views, one after the other, and shows their text. "#view=TITLE" opens a view,
// and "&search=", "&type=" choose what it shows.
function applyHash(app) {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const {selection} = app;
  if (selection) {
    if (wanted.has('profile'))
      selection.profile = app.model.profiles[wanted.get('profile')];
    const type = selection.profile.typeIndex(wanted.get('type'));
    selection.type = type >= 0 ? type : app.startType(selection.profile);
    selection.base = app.baseOf(selection.profile);
    if (wanted.has('grain'))
      selection.grain = GRAINS.indexOf(wanted.get('grain'));
    if (wanted.has('std'))
      selection.std = wanted.get('std') === '1';
    selection.labels = wanted.getAll('label').map(text => {
      const at = text.indexOf('=');
      return {key: text.slice(0, at), value: text.slice(at + 1)};
    });
  }
  return wanted;
}

function start() {
  const app = new App(new Model(JSON.parse(document.getElementById('data').textContent)));
  const wanted = applyHash(app);
  if (app.selection)
    app.compute();
  if (wanted.has('csv')) {
    const key = wanted.get('csv') || 'flat';
    document.body.append(h('pre', {id: 'csv'}, rowsAsCsv(
        app.tree, sortRows(app.model, app.selection.grain, app.rows, key))));
  } else if (wanted.has('trace')) {
    document.body.append(h('pre', {id: 'trace'}, traceSummary(new Trace(app.model.traces[0]))));
  } else {
    app.build();
    app.drawHead();
    const view = app.views.findIndex(v => v.title === wanted.get('view'));
    app.open(view >= 0 ? view : app.firstView());
    if (view >= 0 && app.views[view].restore)
      app.views[view].restore(wanted);
    if (wanted.has('all')) {
      app.views.forEach((_, i) => app.open(i));
      document.body.append(h('pre', {id: 'all'}, `views: ${app.views.length}\n` +
          `title: ${document.title}\n`, app.views.map(v =>
        `${v.title}: ${v.element.textContent.replace(/\s+/g, ' ')}\n`)));
    }
    if (wanted.has('search')) {
      app.searchBox.value = wanted.get('search');
      app.search(app.searchBox.value);
    }
  }
  document.body.dataset.done = 'yes';
}

start();
