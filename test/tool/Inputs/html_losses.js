// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what the page tells about missing data, and the largest function in the flame
// graph of callees.

setTimeout(() => {
  document.querySelectorAll('[role=tab]')[1].click();
  for (const {innerText} of document.querySelectorAll('.loss'))
    console.log('step: ' + innerText.replace(/\s+/g, ' '));
  const menu = document.querySelector('[aria-label=Direction]'), canvas = document.querySelector('canvas.flame');
  menu.value = 'up';
  menu.dispatchEvent(new Event('change'));
  const {left, top} = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new MouseEvent('mousemove', {clientX: left + 9, clientY: top + 25, bubbles: true}));
  say('box', document.querySelector('.hover-line').textContent);
}, 2000);
