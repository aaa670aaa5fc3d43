// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which spans a trace has, and what the timeline says about the longest wait
// for a lock and about a range of time.

const trace = new Trace(JSON.parse(document.getElementById('data').textContent).traces[0]);
const details = () => document.querySelector('.details').innerText.replace(/\s+/g, ' ');

for (const {kind, depth, lane, spans} of trace.spanRows)
  say('row', `${SPAN_NAMES[kind]} ${depth} of ${lane < 0 ? 'all' : trace.lanes[lane].thread.name}: ` +
      spans.map(s => `${trace.spanText(s)}${s.end > s.begin ? '+' : ''}`).join(', '));

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
  }
];
const next = () => {
  steps.shift()();
  if (steps.length)
    setTimeout(next, 300);
};
setTimeout(next, 200);
