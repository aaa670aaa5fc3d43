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
    // --sample, or with the memory of the first card of the overview, or with any
    // profile that is not empty.
    const hasValues = p => p.types.some(t => t.total > 0);
    const running = shown.filter(p => p.role === 'snapshot' && !p.isAtExit());
    const profile = running[running.length - 1] || shown.find(p => p.typeIndex(model.start.type) >= 0) ||
        this.peakProfile(shown) || shown.find(p => p.kind === 'heap' && hasValues(p)) || shown.find(hasValues) || shown[0];
    this.firstProfile = profile;
    if (profile) {
      this.selection = {};
      applyFragment(this, new URLSearchParams());
    }
  }

  // The profile of the peak, unless the files show changes.
  peakProfile(shown) {
    const space = p => p.types[p.typeIndex('inuse_space')];
    return this.model.profiles.every(p => p.role === 'shown') &&
        shown.find(p => p.kind === 'peak' && p.typeIndex('inuse_space') >= 0 && space(p).total > 0);
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

  // The tree of the selection and its rows are made when a view needs them.
  get tree() {
    this.madeTree = this.madeTree || new Tree(this.model, this.selection);
    return this.madeTree;
  }

  get rows() {
    this.madeRows = this.madeRows || functionRows(this.tree);
    return this.madeRows;
  }

  // The tree of the source lines of the selection, and its rows.
  get lineTree() {
    const {selection} = this;
    this.madeLineTree = this.madeLineTree ||
        (selection.grain === 1 ? this.tree : new Tree(this.model, {...selection, grain: 1}));
    return this.madeLineTree;
  }

  get lineRows() {
    this.madeLineRows = this.madeLineRows ||
        (this.selection.grain === 1 ? this.rows : functionRows(this.lineTree));
    return this.madeLineRows;
  }

  compute() {
    this.madeTree = this.madeRows = this.madeLineTree = this.madeLineRows = null;
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
    this.remember();
  }

  // Puts what is shown into the address of the page. isNew: the button Back of the
  // browser returns to what was shown before.
  remember(isNew) {
    if (this.isFixed)
      return;
    this.isNew = this.isNew || isNew;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const fragment = currentFragment(this), how = this.isNew ? 'pushState' : 'replaceState';
      this.isNew = false;
      // If the user has just followed a link, hashchange will restore its address.
      if (location.hash !== this.hash || fragment === location.hash)
        return;
      history[how](null, '', fragment);
      this.hash = location.hash;
    }, 200);
  }

  // Shows what a fragment says.
  restore(wanted) {
    clearTimeout(this.timer);
    this.hash = location.hash;
    this.isNew = false;
    this.searchBox.value = wanted.get('search') || '';
    this.readPattern();
    this.wantsOnly = this.only.firstChild.checked = wanted.get('only') === '1';
    if (this.selection) {
      applyFragment(this, wanted);
      this.selection.only = this.wantsOnly ? this.pattern : null;
      this.compute();
    }
    this.drawHead();
    const index = this.views.findIndex(v => v.title === wanted.get('view'));
    this.show(index >= 0 ? index : this.firstView(), view => view.restore && view.restore(wanted));
  }

  choose(fn) {
    this.fn = fn;
    this.open(this.views.findIndex(v => v instanceof SandwichView));
  }

  // Selects the stacks with the label, or ends this selection.
  chooseLabel(key, value) {
    const {labels} = this.selection, others = labels.filter(l => l.key !== key);
    const isChosen = labels.some(l => l.key === key && l.value === value);
    this.select({labels: isChosen ? others : [...others, {key, value}]});
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
    this.hasTotal = false;
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

  // isWhole: also with what the search has found, which takes long in a large profile
  drawTotal(isWhole) {
    this.hasTotal = true;
    const {tree, selection: s} = this, {unit, total} = s.profile.types[s.type];
    const parts = [amountText(tree) + ' in total'];
    if (!tree.weight[0])
      parts[0] = `No stack has ${s.profile.types[s.type].name}` + (s.labels.length || s.only ?
          ' among the selected ones' : '; the first menu has other values');
    if (tree.sum !== total)
      parts.push(`${share(tree.sum, total)} of the profile\u2019s ${quantity(total, unit)}`);
    if (tree.base)
      parts.push(`before ${quantity(tree.baseSum, unit)}, change ` +
          change(tree.total[0] - tree.totalBase[0], unit));
    if (this.matches && isWhole)
      parts.push(this.matchText());
    else if (this.matches)
      setTimeout(() => tree === this.madeTree && this.drawTotal(true));
    fill(this.total, parts.join('; '));
    fill(this.losses, this.lossTexts(s.profile).map(t => h('p', {class: 'loss'}, t)));
  }

  lossTexts(profile) {
    const texts = profile.lost.map(text => text.replace(/^lost: /, 'Lost: '));
    if (profile.small && profile.small.unlabelled)
      texts.push(`${counted(profile.small.unlabelled, 'stack')} with the smallest values are shown without labels.`);
    if (profile.joinedCount)
      texts.push(`${counted(profile.joinedCount, 'stack')} of ${wholeText(profile.small.stacks)}, those with the ` +
          'smallest values, are joined to (small stacks), except in the table of functions; ' +
          'mprof html --focus=FUNCTION shows those with a function.');
    return texts;
  }

  // "3 functions match: 1.2 MiB, 12 % in stacks that match"
  matchText() {
    const {tree} = this, {count, weight, isLess} = foundIn(tree, () => this.rows, this.matches);
    return `${this.pattern.countText(count, ['function', 'line', 'file'][tree.shape.grain])}: ` +
        `${isLess ? 'at least ' : ''}${quantity(weight, tree.unit)}, ${share(weight, tree.weight[0])} in stacks that match`;
  }

  readPattern() {
    this.pattern = this.searchBox.value ? new Search(this.searchBox.value) : null;
  }

  search() {
    this.readPattern();
    this.remember();
    if (!this.selection) {
      this.views[this.current].search(this);
      return;
    }
    if (this.selection.only || this.wantsOnly) {
      this.select({only: this.wantsOnly ? this.pattern : null});
      return;
    }
    this.matches = this.pattern &&
        matchingFunctions(this.model, this.selection.grain, this.pattern);
    this.hasTotal = false;
    this.drawTotalIfShown(true);
    this.views[this.current].search(this);
  }

  // --- the views

  makeViews() {
    const views = [new OverviewView(this)];
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

  open(index, drawn) {
    this.show(index, drawn);
    this.remember(true);
  }

  // drawn: called with the view when it is drawn, also if the user changes the
  // selection before
  show(index, drawn) {
    this.current = index;
    this.tabs.querySelectorAll('button').forEach((tab, i) => {
      tab.setAttribute('aria-selected', i === index);
      tab.tabIndex = i === index ? 0 : -1;
    });
    this.tabs.children[index].scrollIntoView({block: 'nearest', inline: 'center'});
    fill(this.main, this.views[index].element);
    document.body.dataset.view = this.views[index].title;
    document.body.classList.toggle('whole', Boolean(this.views[index].isWhole));
    this.drawn = drawn;
    this.drawView();
  }

  drawTotalIfShown(isWhole) {
    if (this.selection && !this.hasTotal && !this.views[this.current].isWhole)
      this.drawTotal(isWhole);
  }

  // Makes what the view needs, and draws it. In a large profile, the browser may do
  // something else in between, and another call ends this one. Until it is drawn, the
  // view shows an older selection, and is not to be used.
  drawView() {
    const app = this, view = this.views[this.current], isLarge = this.model.nodeCount >= STEP / 4;
    const {activeElement} = document;
    if (this.main.contains(activeElement))
      this.focused = activeElement;
    const steps = this.drawing = function *() {
      for (const make of view.needs ? view.needs(app) : []) {
        make();
        yield;
      }
      const {drawn, focused} = app;
      app.drawing = app.drawn = app.focused = null;
      app.main.inert = false;
      tip.hide();
      app.drawTotalIfShown(!isLarge);
      view.show(app);
      if (drawn)
        drawn(view);
      if (focused && document.activeElement === document.body)
        focused.focus({preventScroll: true});
    }();
    if (isLarge && !this.isFixed) {
      this.main.inert = true;
      inSlices(steps, () => this.drawing !== steps);
    } else {
      this.finishDrawing();
    }
  }

  finishDrawing() {
    while (this.drawing)
      this.drawing.next();
  }

  build() {
    const {version} = this.model.start;
    this.views = this.makeViews();
    this.menus = h('div', {class: 'menus'});
    this.total = h('p', {class: 'total'});
    this.losses = h('div', {class: 'losses'});
    this.status = h('div', {class: 'status', role: 'status', 'aria-live': 'polite'});
    this.searchBox = h('input', {
      type: 'search', placeholder: 'Search (text or expression)', 'aria-label': 'Search', size: 28,
      oninput: () => this.search()
    });
    this.only = checkbox('only matches', 'Shows only stacks that match the search', false, on => {
      this.wantsOnly = on;
      this.select({only: on ? this.pattern : null});
    });
    this.tabs = h('div', {class: 'tabs', role: 'tablist', onkeydown: e => this.tabKey(e)},
                  this.views.map((view, i) => h('button', {
                    role: 'tab', onclick: () => this.open(i)
                  }, view.title)));
    this.keys = h('dialog', {'aria-label': 'Keys'}, h('h2', {}, 'Keys'), keyList(),
                  h('button', {onclick: () => this.keys.close()}, 'Close'));
    this.main = h('div', {class: 'panel', role: 'tabpanel'});
    document.body.append(h('header', {}, h('div', {class: 'title-row'}, h('h1', {}, this.title()),
        h('div', {class: 'search'}, this.selection && this.only, this.searchBox,
          h('button', {title: 'Keys (?)', onclick: () => this.keys.showModal()}, '?')),
        version ? new Renewal(this, version).element : null),
        this.menus, this.total, this.losses, this.tabs), h('main', {}, this.main), this.status, this.keys);
    addEventListener('keydown', e => this.key(e));
    addEventListener('hashchange', () => this.restore(new URLSearchParams(location.hash.slice(1))));
    darkScheme.addEventListener('change', Picture.redrawAll);
    addEventListener('beforeprint', () => {
      this.finishDrawing();
      Picture.print(true);
    });
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
    const facts = [first && dateText(first.time)];
    const duration = first && first.duration > 0 ? first.duration * 1e6 :
        trace && this.profiles.length ? trace.duration : 0;
    if (duration)
      facts.push(quantity(duration, 'nanoseconds'));
    if (first && first.files > 1)
      facts.push(`${first.files} files`);
    const version = first && first.comments.find(c => /^MProf [0-9]/.test(c));
    facts.push(version);
    return [name, facts.filter(Boolean).map(f => h('small', {}, f))];
  }

  // The view that fits the files: that of their only kind, or what the options ask
  // for, or the overview. A trace with tasks or regions has more than a timeline.
  firstView() {
    const {start, traces, reports} = this.model, shown = this.profiles;
    const only = (kinds, View) => shown.every(p => kinds.includes(p.kind)) &&
        this.views.some(v => v instanceof View) && View;
    const wanted = shown.some(p => p.role === 'snapshot') ? SeriesView :
        shown.length && (start.type || start.grain) ? FlameView :
            traces.length ? !reports.length && !traces.some(t => t.slowest && t.slowest.count) && only([], TimelineView) :
                only(['threadleak'], StuckView) || (!reports.length && only(['block', 'mutex'], LocksView));
    const index = wanted ? this.views.findIndex(v => v instanceof wanted) : 0;
    return Math.max(0, index);
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
    if (event.ctrlKey || event.metaKey || event.altKey || this.keys.open)
      return;
    if (event.target === this.searchBox) {
      if (event.key === 'Escape') {
        this.searchBox.value = '';
        this.search();
        this.searchBox.blur();
      }
      return;
    }
    if (/^(INPUT|SELECT)$/.test(event.target.tagName))
      return;
    if (event.key === '/') {
      this.searchBox.focus();
      this.searchBox.select();
    } else if (event.key === '?') {
      this.keys.showModal();
    } else if (event.key >= '0' && event.key <= '9' && this.views[event.key]) {
      this.open(Number(event.key), view => {
        if (view.takeFocus && document.activeElement !== this.searchBox)
          view.takeFocus();
      });
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
// views, one after the other, and shows their text.
function start() {
  const model = new Model();
  const steps = function *() {
    const data = JSON.parse(document.getElementById('data').textContent);
    yield;
    yield* model.read(data);
    const {start: {grain, std}} = model;
    if (model.profiles.length)
      yield* beginShape(model, grain, std).steps;
    note.remove();
    yield;
    const app = showPage(model);
    // The page makes what other views need before they are chosen.
    for (const other of model.profiles.length ? [1, 0, 2] : []) {
      yield;
      firstParts(model, other);
      yield;
      yield* beginShape(model, other, std).steps;
    }
    yield;
    if (app.selection)
      for (const make of [() => app.tree.areas, () => app.tree.parts, () => app.rows, () => app.lineTree.areas, () => app.lineRows,
                          () => app.tree.callees.children(app.tree.callees.root), () => app.tree.stackWeights])
        yield make();
    // The first search needs the forms of all names.
    for (const names of [model.texts, model.wholeNames.values()]) {
      let count = 0;
      for (const name of names) {
        formsOf(name);
        if (++count % 500 === 0)
          yield;
      }
    }
  };
  const note = document.body.appendChild(h('p', {class: 'note'}, 'Reading the profile'));
  inSlices(steps());
}

function showPage(model) {
  const app = new App(model);
  const wanted = new URLSearchParams(location.hash.slice(1));
  app.isFixed = wanted.has('all');
  if (wanted.has('csv')) {
    const key = wanted.get('csv') || 'flat';
    applyFragment(app, wanted);
    app.compute();
    document.body.append(h('pre', {id: 'csv'}, rowsAsCsv(
        app.tree, app.rows.sort(topOrder(app.model, app.selection.grain, key)))));
  } else if (wanted.has('trace')) {
    document.body.append(h('pre', {id: 'trace'}, traceSummary(app.model.traces[0])));
  } else {
    app.build();
    app.restore(wanted);
    if (app.isFixed) {
      app.views.forEach((_, i) => app.open(i));
      document.body.append(h('pre', {id: 'all'}, `views: ${app.views.length}\n` +
          `title: ${document.title}\n`, app.views.map(v =>
        `${v.title}: ${v.element.textContent.replace(/\s+/g, ' ')}\n`)));
    }
  }
  document.body.dataset.done = 'yes';
  return app;
}

start();
