// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The views of other things than one profile.
function moreViews(app) {
  return app.model.traces.map((data, i, all) => {
    const view = new TimelineView(app, data);
    if (all.length > 1)
      view.title += ' ' + data.name;
    return view;
  });
}
