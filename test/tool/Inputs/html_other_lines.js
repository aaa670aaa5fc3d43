// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says how many lines have no row of their own in the table, and how many a file does
// not show first.

setTimeout(() => {
  const tabs = document.querySelectorAll('[role=tab]'), menu = document.querySelector('[aria-label="Add up by"]');
  tabs[2].click();
  menu.value = '1';
  menu.dispatchEvent(new Event('change'));
  say('row', document.querySelector('tbody td.wide').textContent);
  tabs[4].click();
  say('lines', document.querySelector('.sources .more').textContent);
  say('note', [...document.querySelectorAll('.sources .note')].pop().textContent);
}, 2000);
