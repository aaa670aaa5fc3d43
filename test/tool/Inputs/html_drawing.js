// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses a page while it still makes a view. A clock that is fast lets the page make one
// part in each task.

let now = 0;
performance.now = () => now += 100;

const drawn = async () => {
  while (document.querySelector('.panel').inert)
    await new Promise(done => setTimeout(done));
};

function choose(label, value) {
  const menu = document.querySelector(`select[aria-label="${label}"]`);
  menu.value = value;
  menu.dispatchEvent(new Event('change'));
}

async function use() {
  press(document.body, '1');
  await drawn();
  const canvas = document.querySelector('canvas.flame'), panel = document.querySelector('.panel');
  press(canvas, 'ArrowDown');
  press(canvas, 'ArrowDown');
  press(canvas, 'Enter');
  const zoomed = document.querySelector('.path').textContent;
  await new Promise(done => setTimeout(done, 300));
  const link = location.hash;
  press(canvas, 'Escape');
  press(document.body, '0');
  await new Promise(done => setTimeout(done, 300));
  location.hash = link;
  await new Promise(done => addEventListener('hashchange', done, {once: true}));
  choose('Values', '0');
  await drawn();
  say('a link, then other values', `${document.querySelector('.path').textContent === zoomed} ${zoomed}`);

  press(document.body, '2');
  await drawn();
  const row = document.querySelector('tbody tr');
  row.focus();
  choose('Add up by', '2');
  say('the old rows can be used', !panel.inert && row.isConnected);
  dispatchEvent(new Event('beforeprint'));
  say('printed', document.querySelector('tbody tr td.wide').textContent);
  dispatchEvent(new Event('afterprint'));

  press(document.body, '3');
  press(document.body, '1');
  await drawn();
  say('the last choice', document.body.dataset.view);
  say('has the keys', document.activeElement === canvas);
  press(canvas, ']');
  canvas.blur();
  await drawn();
  say('has them still', document.activeElement === canvas);

  press(document.body, '1');
  press(document.body, '/');
  await drawn();
  say('keys of the search', document.activeElement.type);
}

setTimeout(use, 200);
