// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the search finds in all files: a card above those of the overview, with a link
// to the view of each profile, trace and report that has a match.

class OverviewSearch {
  constructor(overview) {
    this.overview = overview;
    this.app = overview.app;
    this.element = h('div', {class: 'cards found', role: 'status'});
    this.pattern = null;
    this.trees = new Map(); // with their rows, of all values that were searched
  }

  show() {
    const {pattern, model, views, selection, matches: known} = this.app;
    if (pattern === this.pattern)
      return;
    this.pattern = pattern;
    if (!pattern) {
      fill(this.element);
      return;
    }
    const matches = selection && selection.grain === 0 ? known : matchingFunctions(model, 0, pattern);
    const rows = [];
    this.functions = new Set();
    const makers = this.overview.shown.flatMap(p => this.typesOf(p).flatMap(type => [
      () => void this.treeOf(p, type), () => this.profileRow(p, type, matches)
    ]));
    makers.push(...views.map(view => () => this.viewRow(view)));
    this.overview.makeNext(makers, row => {
      if (row)
        rows.push(row);
      return pattern === this.pattern; // else another text is searched now
    }, () => fill(this.element, this.overview.card({
      title: 'Found', rows, text: this.countText(matches, rows.length > 0)
    })));
  }

  // "3 functions match:", or else which functions match that the rows leave out.
  countText(matches, hasRows) {
    const {pattern, model} = this.app, count = this.functions.size;
    if (count || hasRows)
      return count ? pattern.countText(count, 'function') + ':' : '';
    const hidden = model.start.std ? 0 : matches.reduce((sum, m, fn) => sum + (m && model.functions[0].std[fn]), 0);
    return hidden ? pattern.countText(hidden, 'library function') + '. The other views show them with \u201clibrary frames\u201d.' :
        pattern.countText(0, 'function') + '.';
  }

  // Memory in use and allocated memory, or else the values that are shown first.
  typesOf(profile) {
    const types = ['inuse_space', 'alloc_space'].map(name => profile.typeIndex(name))
        .filter(i => i >= 0 && profile.types[i].total > 0);
    return types.length ? types : [this.app.startType(profile)];
  }

  treeOf(profile, type) {
    const key = profile.index + ' ' + type;
    const made = this.trees.get(key) || {tree: this.overview.tree(profile, type), rows: null};
    this.trees.set(key, made);
    return made;
  }

  profileRow(profile, type, matches) {
    const {name} = profile.types[type], made = this.treeOf(profile, type), {tree} = made;
    const {count, functions, weight, isLess} =
        foundIn(tree, () => made.rows = made.rows || functionRows(tree), matches);
    functions.forEach(fn => this.functions.add(fn));
    return count && this.row(this.app.profileName(profile) + (STATES[name] ? ', ' + STATES[name] : ''),
        counted(count, 'function'), (isLess ? '\u2265 ' : '') + quantity(weight, tree.unit), weight / tree.weight[0],
        {view: 'Functions', profile: profile.index, type: name});
  }

  // A row for a view that finds things in a trace or report.
  viewRow(view) {
    const found = view.countFound && view.countFound(this.pattern);
    return found && found.count && this.row(view.title, counted(found.count, found.noun), found.value, 0,
                                            {view: view.title});
  }

  row(name, note, value, part, where) {
    return {name, note, value, part, href: fragmentOf({...where, search: this.app.searchBox.value})};
  }
}
