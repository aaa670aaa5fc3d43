// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the functions that the pointer finds in a row of the flame graph.

setTimeout(() => {
  press(document.body, '1');
  const canvas = document.querySelector('canvas.flame');
  const {left, top, width} = canvas.getBoundingClientRect();
  const at = (x, row) => ({clientX: left + x, clientY: top + 20 * row + 9, bubbles: true, cancelable: true});
  const names = row => {
    const found = new Set();
    for (let x = 1; x < width; x++) {
      canvas.dispatchEvent(new MouseEvent('mousemove', at(x, row)));
      found.add(document.querySelector('.hover-line strong').textContent);
    }
    return found;
  };
  const wheel = how => canvas.dispatchEvent(new WheelEvent('wheel', {...at(width / 2, 2), ...how}));
  const hasOthers = (found, known) => [...found].some(name => !known.has(name));
  const all = names(2);
  say('columns', `${all.size} functions, ${names(3).size === all.size ? 'the same' : 'another'} number of callees`);
  for (let i = 0; i < 9; i++)
    wheel({ctrlKey: true, deltaY: -300});
  const few = names(2);
  say('magnified', `${few.size} functions, others: ${hasOthers(few, all)}`);
  wheel({deltaX: 2 * width});
  const moved = names(2);
  say('moved', `${moved.size} functions, others: ${hasOthers(moved, few)}`);
  press(canvas, '+');
  say('key', `fewer: ${names(2).size < moved.size}`);
  press(canvas, 'Escape');
  say('all', `${names(2).size} functions`);
}, 200);
