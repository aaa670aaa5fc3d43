// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page shows, as the fragment of its address, so that a link shows the
// same again: "#view=TITLE&profile=N&type=T&grain=G&std=1&label=K=V&search=E&only=1&fn=N",
// and what the view adds.

// values: undefined values are left out.
function fragmentOf(values) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const v of Array.isArray(value) ? value : [value])
      if (v !== undefined && v !== null && v !== false)
        params.append(name, v);
  return '#' + params;
}

// The fragment for what the app shows.
function currentFragment(app) {
  const {selection: s} = app, view = app.views[app.current];
  const own = view.state ? view.state() : {}, search = app.searchBox.value || null;
  if (!s || view instanceof OverviewView)
    return fragmentOf({view: view.title, search, ...own});
  return fragmentOf({
    view: view.title, profile: s.profile.index, type: s.profile.types[s.type].name,
    base: s.base ? s.base.index : 'none', grain: GRAINS[s.grain], std: s.std ? 1 : 0,
    label: s.labels.map(l => `${l.key}=${l.value}`), search,
    only: app.wantsOnly ? 1 : null, fn: app.fn >= 0 ? app.fn : null, ...own
  });
}

// Sets the selection as the fragment says. What it does not name, or names
// wrongly, is as at the start.
function applyFragment(app, wanted) {
  const {selection, model} = app;
  if (!selection)
    return;
  const profile = model.profiles[wanted.get('profile')];
  selection.profile = wanted.has('profile') && profile ? profile : app.firstProfile;
  const type = selection.profile.typeIndex(wanted.get('type'));
  selection.type = type >= 0 ? type : app.startType(selection.profile);
  const base = model.profiles[wanted.get('base')];
  selection.base = wanted.get('base') === 'none' ? null :
      wanted.has('base') && base && app.areLike(base, selection.profile) ? base : app.baseOf(selection.profile);
  const grain = GRAINS.indexOf(wanted.get('grain'));
  selection.grain = grain >= 0 ? grain : model.start.grain;
  selection.std = wanted.has('std') ? wanted.get('std') === '1' : model.start.std;
  selection.labels = wanted.getAll('label').map(text => {
    const at = text.indexOf('=');
    return {key: text.slice(0, at), value: text.slice(at + 1)};
  });
  selection.only = null;
  const fn = Number(wanted.get('fn') || -1);
  app.fn = Number.isInteger(fn) && fn < model.functions[selection.grain].count ? fn : -1;
}
