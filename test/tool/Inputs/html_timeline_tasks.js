// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which tasks the keys t and T choose, and how the timeline draws the memory in
// use: its height at some moments.

const timeline = () => document.querySelector('.timeline');
const details = () => document.querySelector('.details').innerText.replace(/\s+/g, ' ');

function heights() {
  const drawing = Object.create(TimelineDrawing.prototype), lines = [];
  Object.assign(drawing, {trace: {heap: [6, 12], heapTime: [50, 70]}, from: 0, to: 100, labelWidth: 0, width: 100});
  drawing.drawHeap({beginPath() {}, moveTo() {}, fill() {}, lineTo(x, y) {
    lines[x] = y;
  }});
  return [10, 55, 75].map(x => lines[100] - lines[x]).join(' ');
}

const timer = setInterval(() => {
  if (!timeline() || !document.querySelector('.details').firstChild) {
    location.hash = '#view=Timeline';
    return;
  }
  clearInterval(timer);
  for (const key of ['t', 't', 't', 't', 'T', 'ArrowDown', 'T']) {
    press(timeline(), key);
    say('key ' + key, details());
  }
  say('heap', heights());
}, 50);
