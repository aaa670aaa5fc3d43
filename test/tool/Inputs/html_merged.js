// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the times of the threads of a trace, and what the timeline says about a
// merged interval.

const {lanes} = new Trace(JSON.parse(document.getElementById('data').textContent).traces[0]);
const text = element => element.innerText.replace(/\s+/g, ' ');
const lane = lanes.findIndex(l => l.merged.size);
const {time, merged} = lanes[lane];
const longest = [...merged.keys()].reduce((a, b) => time[b + 1] - time[b] > time[a + 1] - time[a] ? b : a);
const address = `#view=Timeline&lane=${lane}&time=${time[longest]}`;

// The page begins with the overview, writes what it shows first into the address,
// and shows the interval when it has read the new address.
const timer = setInterval(() => {
  const shown = document.querySelector('.details'), details = shown ? text(shown) : '';
  const note = () => [...document.querySelectorAll('.legend')].map(text).find(t => /merged/.test(t));
  if (!/states shorter/.test(details) || !/part in full/.test(note())) {
    location.hash = address;
    return;
  }
  clearInterval(timer);
  console.log('step: note: ' + note());
  for (const lane of lanes)
    console.log(`step: times: ${lane.thread.id} ${lane.sums.map(s => s[lane.count]).join(' ')}`);
  console.log('step: merged: ' + details.replace(/^.*?: /, ''));
  // The page may still read the address, which shows all of the trace again.
  const zoomed = setInterval(() => {
    if (!/--from=/.test(note())) {
      press(document.querySelector('.timeline'), 'w');
      return;
    }
    clearInterval(zoomed);
    console.log('step: zoomed: ' + note());
  }, 50);
}, 50);
