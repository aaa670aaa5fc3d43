// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plays the server of a page with the number 1, which has a newer page at the
// first load of the page.

const loads = Number(sessionStorage.getItem('loads') || 0) + 1;
sessionStorage.setItem('loads', loads);

window.fetch = async url => {
  say(`load ${loads} asks`, url);
  return {ok: true, text: async () => loads > 1 ? '1\nno memory\n' : '2\n'};
};

if (loads === 1)
  press(document.body, '2');
say(`view of load ${loads}`, document.body.dataset.view);
if (loads > 1)
  setTimeout(() => say('status', document.querySelector('.status').textContent), 3000);
// Without renewals, the page asks no more.
setTimeout(() => document.querySelector('.renewal input').click(), 3500);
