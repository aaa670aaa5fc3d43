// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which rows a timeline has, and where the chain of the last wait leads.

const trace = new Trace(JSON.parse(document.getElementById('data').textContent).traces[0]);
const {lanes} = trace;
const details = () => document.querySelector('.details').innerText.replace(/\s+/g, ' ');

const groups = groupsOf(lanes), open = new Set(groups.filter(Boolean));
const drawing = Object.assign(new TimelineDrawing(), {trace, open: new Set(), folded: new Set()});
say('folded', timelineRows(trace, groups, new Set(), new Set()).rows.map(r => drawing.rowName(r).replace(/ \(\d+\)$/, '')).join(', '));
say('open', timelineRows(trace, groups, open, new Set()).rows.length + ' rows');

const sums = columnSums(trace, lanes, 0, trace.duration, 100).subarray(0, 100);
const running = lanes.reduce((sum, l) => sum + l.sums[0][l.count], 0);
say('sums are equal', Math.abs(sums.reduce((a, b) => a + b) * trace.duration / 100 / running - 1) < 1e-6);

const lane = lanes.findIndex(l => l.thread.name === 'last');
const i = [...lanes[lane].state].findIndex((s, k) => s === BLOCKED && trace.waits[lanes[lane].reason[k]] === 0);
setTimeout(() => {
  say('whole', details());
  location.hash = `#view=Timeline&lane=${lane}&time=${lanes[lane].time[i]}`;
}, 300);
setTimeout(() => {
  say('chain', trace.chainOf({lane, i}).map(s =>
    `${lanes[s.lane].thread.name}: ${trace.stateName(lanes[s.lane], s.i)}`).join(' < '));
  for (const key of ['g', 'g', 'g', 'G']) {
    press(document.querySelector('.timeline'), key);
    say(key, details());
  }
}, 600);
