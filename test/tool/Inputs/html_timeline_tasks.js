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

// The numbers of the chosen ones of three tasks that began and ended together.
function together(keys) {
  const view = Object.create(TimelineView.prototype), spans = [1, 2, 3].map(number => ({number, begin: 5, end: 9})), chosen = [];
  Object.assign(view, {trace: {spanRows: [{kind: SPAN_RANGE, spans}]}, from: 0, to: 100, rows: [],
    selectRange(begin, end, span) {
      this.span = span;
      chosen.push(span.number);
    }, moveTo() {}});
  keys.forEach(by => view.stepTask(by));
  return chosen.join(' ');
}

// The command for a part of a long trace.
function command(from, to) {
  const view = Object.create(TimelineView.prototype);
  Object.assign(view, {trace: {begin: 0, duration: 1e13}, from, to, command: h('span')});
  view.sayCommand();
  return view.command.textContent;
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
  say('together', together([1, 1, 1, -1, -1]));
  say('command', command(1234567890000, 1234567990000));
}, 50);
