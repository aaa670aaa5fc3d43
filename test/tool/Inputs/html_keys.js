// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses a page of mprof html by the keyboard and the mouse, and writes what it
// shows to the console.

const text = selector => document.querySelector(selector).textContent;

function useFlameGraph() {
  press(document.body, '1');
  const canvas = document.querySelector('canvas.flame');
  say('has the keys', document.activeElement === canvas);
  press(document.activeElement, 'ArrowDown');
  say('below the graph', text('.hover-line'));
  say('first callee', text('.status'));
  press(canvas, 'Enter');
  press(canvas, 'Escape');
  say('zoomed out', text('.status'));
  const {left, top} = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new MouseEvent('click', {
    clientX: left + 5, clientY: top + 25, bubbles: true, detail: 1
  }));
  say('clicked', text('.status'));
  press(canvas, 's');
  say('callers and callees', text('.sandwich h2'));
}

function useTable() {
  press(document.body, '2');
  const row = document.querySelector('tbody tr');
  row.focus();
  press(row, 'ArrowDown');
  say('row', document.activeElement.rowIndex);
  press(document.activeElement, 'Enter');
  say('view', document.body.dataset.view);
  press(document.body, '2');
  press(document.body, '[');
  say('other values', document.querySelector('select').selectedOptions[0].textContent);
}

function useLabels() {
  press(document.body, '5');
  document.querySelector('.label').click();
  say('label', text('.chip') + ' ' + text('.total'));
  document.querySelector('.chip').click();
  const values = () => [...document.querySelectorAll('.labels section')].find(
      s => s.firstChild.firstChild.textContent === 'bytes').querySelectorAll('.label');
  const before = values().length;
  values()[0].click();
  say('other values of a chosen label', `${values().length} of ${before}`);
  document.querySelector('.chip').click();
}

function useSearch() {
  press(document.body, '/');
  const box = document.activeElement;
  box.value = '^main$';
  box.dispatchEvent(new Event('input'));
  say('search', text('.total'));
  box.value = '(';
  box.dispatchEvent(new Event('input'));
  say('wrong expression', text('.total'));
}

// The list of keys, which takes all keys while it is open.
function useList() {
  const views = document.querySelectorAll('[role=tab]').length;
  let count = 0;
  for (let i = 0; i < views; i++) {
    press(document.body, String(i));
    press(document.querySelector('canvas[tabindex]') || document.body, '?');
    press(document.body, '0');
    count += document.querySelector('dialog').open &&
        document.body.dataset.view === document.querySelectorAll('[role=tab]')[i].textContent;
    document.querySelector('dialog button').click();
  }
  say('views with the list of keys', `${count} of ${views}, then open: ${document.querySelector('dialog').open}`);
}

setTimeout(() => {
  useList();
  useFlameGraph();
  useTable();
  useLabels();
  useSearch();
}, 200);
