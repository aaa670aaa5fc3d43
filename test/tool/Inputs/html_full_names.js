// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches a page for names of functions, and writes where their whole names are.

const find = selector => document.querySelector(selector);

function hover() {
  const canvas = find('canvas.flame'), {left, top} = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new MouseEvent('mousemove', {clientX: left + 5, clientY: top + 45, bubbles: true}));
  say('tooltip', [...find('.tip').children].map(line => line.textContent).join('|'));
  say('line', find('.hover-line').textContent);
}

function copy() {
  const canvas = find('canvas.flame');
  for (const key of ['ArrowDown', 'ArrowDown', 'c'])
    press(canvas, key);
}

setTimeout(() => {
  const tabs = document.querySelectorAll('[role=tab]');
  tabs[2].click();
  for (const expression of ['handle_17\\(', 'RequestHandler<std', '^RequestHandler::handle_17$', 'handle_18']) {
    search(expression);
    say(expression, find('.total').textContent.replace(/.*; /, ''));
  }
  search('');
  const name = find('td .name');
  say('row', `${name.textContent}; ${name.title}`);
  name.click();
  say('details', find('.whole-name').textContent);
  tabs[1].click();
  document.execCommand = () => say('copied', find('.copied').value.replace(/\n/g, '|'));
  setTimeout(() => {
    hover();
    copy();
  }, 200);
}, 200);
