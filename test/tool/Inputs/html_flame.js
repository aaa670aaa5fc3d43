// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zooms and searches in a flame graph, copies a stack, and shortens names.

const text = selector => document.querySelector(selector).textContent;

// Without a user, the browser copies nothing.
document.execCommand = what =>
    say(what, document.activeElement.value.trim().replaceAll('\n', ' < '));

function shorten(room) {
  say(`in ${room}`, shortenName('a::Index<std::string, std::map<int, char> >::insert', room));
}

setTimeout(() => {
  press(document.body, '1');
  const canvas = document.querySelector('canvas.flame');
  say('colours', text('.legend'));
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter'])
    press(canvas, key);
  say('path', text('.path'));
  press(canvas, 'c');
  document.querySelector('.path button').click();
  const {left, top} = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new MouseEvent('mousemove', {clientX: left + 9, clientY: top + 25, bubbles: true}));
  canvas.dispatchEvent(new MouseEvent('mouseleave'));
  say('line', text('.hover-line'));
  search('Index');
  say('found', text('.total'));
  search('');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'Enter'])
    press(canvas, key);
  say('recursion', text('.path'));
  document.querySelector('.bar-row .check input').click();
  say('merged', text('.path'));
  [60, 44, 28, 24, 16, 8, 4, 2].forEach(shorten);
  say('parameters', shortenName('a::store(std::string const&, std::map<int, char>&)', 24));
  say('operator', shortenName('a::operator<< <int>', 14));
}, 200);
