// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scrolls a flame graph, prepares the page for the printer, and says which rows
// the canvas of the graph has, and how the bars of the overview end.

document.querySelector('[role=tab]:nth-child(2)').click();
const canvas = document.querySelector('canvas.flame');

// The number of rows with something drawn near the left edge.
function rows() {
  const scale = canvas.width / canvas.clientWidth;
  const {data} = canvas.getContext('2d', {willReadFrequently: true}).getImageData(
      Math.round(2 * scale), 0, 1, canvas.height);
  let count = 0;
  for (let y = 10; y < canvas.clientHeight; y += 20)
    count += data[4 * Math.round(y * scale) + 3] > 0;
  return count;
}

setTimeout(() => {
  const before = canvas.clientHeight;
  say('all rows are on the screen', before >= 60 * 20);
  document.querySelector('.flame-box').scrollTop = 500;
  dispatchEvent(new Event('beforeprint'));
  say('rows on paper', rows());
  dispatchEvent(new Event('afterprint'));
  say('the screen is as before', canvas.clientHeight === before);
  document.querySelector('[role=tab]:nth-child(1)').click();
  const bars = [...document.querySelectorAll('.card-row')].map(row => getComputedStyle(row).backgroundImage);
  say('bars with a transparent edge', `${bars.filter(bar => bar.includes('rgba')).length} of ${bars.length}`);
}, 200);
