// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches in the view of locks.

const count = () => document.querySelectorAll('section.lock').length;

setTimeout(() => {
  [...document.querySelectorAll('[role=tab]')].find(tab => tab.textContent === 'Locks').click();
  say('all', count());
  for (const text of ['main', 'nothing(']) {
    search(text);
    say(text, `${count()}, ${document.querySelector('.note[role=status]').textContent}`);
  }
}, 200);
