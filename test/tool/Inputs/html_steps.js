// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions for the scripts that use a page; browser.py runs this file before them.

// Prints a line for the test.
function say(what, shown) {
  console.log(`step: ${what}: ${shown}`);
}

function press(element, key) {
  element.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
}

function search(expression) {
  const box = document.querySelector('.search input[type=search]');
  box.value = expression;
  box.dispatchEvent(new Event('input'));
}
