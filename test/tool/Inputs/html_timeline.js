// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which spans a trace has, and what the timeline says about the longest wait
// for a lock, about ranges of time, about the slowest task of the overview, and about
// the span in the timeline's first row.

const trace = new Trace(JSON.parse(document.getElementById('data').textContent).traces[0]);
const details = () => document.querySelector('.details').innerText.replace(/\s+/g, ' ');

for (const {kind, depth, lane, spans} of trace.spanRows)
  say('row', `${SPAN_NAMES[kind]} ${depth} of ${lane < 0 ? 'all' : trace.lanes[lane].thread.name}: ` +
      spans.map(s => `${trace.spanText(s)}${s.end > s.begin ? '+' : ''}`).join(', '));

// The span whose range is selected.
function shownRange() {
  const range = new URLSearchParams(location.hash.slice(1)).get('range');
  const spans = trace.spanRows.flatMap(row => row.spans);
  return spans.filter(s => `${s.begin}-${s.end}` === range).map(s => trace.spanText(s)).join();
}

let longest = {time: -1};
trace.lanes.forEach((l, lane) => {
  for (let i = 0; i < l.count; i++)
    if (l.state[i] === BLOCKED && trace.waits[l.reason[i]] === 0 && l.time[i + 1] - l.time[i] > longest.time)
      longest = {lane, begin: l.time[i], time: l.time[i + 1] - l.time[i]};
});

const steps = [
  () => location.hash = `#view=Timeline&lane=${longest.lane}&time=${longest.begin}`,
  () => {
    say('wait', details());
    document.querySelector('.details button').click();
    say('with library frames', details());
    press(document.querySelector('.timeline'), 'g');
    say('who ended it', details());
    location.hash = `#view=Timeline&range=0-${trace.duration}`;
  },
  () => {
    say('range', details());
    search('shop::look');
    say('matches', document.querySelector('.legend[role=status]').innerText);
    for (const key of ['Escape', 'n'])
      press(document.querySelector('.timeline'), key);
    say('found', details());
    location.hash = '#view=Overview';
  },
  () => {
    const cards = [...document.querySelectorAll('.card')];
    cards.find(card => /Slowest tasks/.test(card.innerText)).querySelector('a.card-row').click();
  },
  () => {
    say('task', details());
    say('range of the task', shownRange());
    const [{begin, end}] = trace.spanRows[0].spans;
    location.hash = `#view=Timeline&from=${begin}&to=${end}`;
  },
  () => {
    const canvas = document.querySelector('.timeline'), {left, top, width} = canvas.getBoundingClientRect();
    canvas.setPointerCapture = () => {};
    for (let y = 0; y < 100 && /Click a state/.test(details()); y += 4)
      for (const type of ['pointerdown', 'pointerup'])
        canvas.dispatchEvent(new PointerEvent(type, {clientX: left + width / 2, clientY: top + y}));
  },
  () => {
    say('clicked span', shownRange());
    say('sums of the clicked span', details());
    location.hash = `#view=Timeline&range=${trace.duration * 2}-${trace.duration * 3}`;
  },
  () => say('range after the end', details())
];
const next = () => {
  steps.shift()();
  if (steps.length)
    setTimeout(next, 300);
};
setTimeout(next, 200);
