// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows a link of the overview, goes back, opens an address again, and follows
// the sentence on stuck threads.

const view = () => document.body.dataset.view;
const text = selector => document.querySelector(selector).firstChild.textContent;
let address;

// Each step waits for what the one before has changed.
const steps = [
  () => {
    say('begins', view());
    const card = [...document.querySelectorAll('.card')].find(c => /^Allocated most/.test(c.textContent));
    [...card.querySelectorAll('a.card-row')].find(a => /make/.test(a.textContent)).click();
  },
  () => {
    say('link', `${view()} of ${text('.sandwich h2')}, ` +
        document.querySelector('select[title=Values]').selectedOptions[0].textContent);
    document.querySelector('[role=tab]:nth-child(2)').click();
    const canvas = document.querySelector('canvas.flame');
    for (const key of ['ArrowDown', 'Enter'])
      press(canvas, key);
  },
  () => {
    address = location.hash;
    say('address', address.slice(1));
    history.back();
  },
  () => {
    say('back', `${view()} of ${text('.sandwich h2')}`);
    location.hash = address;
  },
  () => {
    say('again', `${view()}, ${document.querySelector('.status').textContent.split(',')[0]}`);
    document.querySelector('[role=tab]:nth-child(3)').click();
    document.querySelector('button[title="Sort by with callees"]').click();
  },
  () => {
    say('sorted', location.hash);
    document.querySelector('[role=tab]:nth-child(1)').click();
    document.querySelector('.card.danger p a').click();
  },
  () => say('stuck', view())
];
const next = () => {
  steps.shift()();
  if (steps.length)
    setTimeout(next, 600);
};
setTimeout(next, 200);
