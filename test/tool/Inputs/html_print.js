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

// Shows the page with the rules for paper, and says how a menu looks.
function sayMenus() {
  document.querySelector('[role=tab]:nth-child(2)').click();
  const menu = getComputedStyle(document.querySelector('.menus select'));
  say('border of a menu on the screen', menu.borderTopWidth);
  const [paper] = [...document.styleSheets[0].cssRules].filter(rule => rule.media && rule.media.mediaText === 'print');
  document.head.append(h('style', {}, [...paper.cssRules].map(rule => rule.cssText).join('')));
  say('on paper', `${menu.borderTopWidth}, ${menu.appearance}, ${menu.display}`);
  say('check boxes', getComputedStyle(document.querySelector('.check')).display);
  document.querySelector('[role=tab]:nth-child(1)').click();
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
  sayMenus();
  say('bars with a transparent edge', `${bars.filter(bar => bar.includes('rgba')).length} of ${bars.length}`);
}, 200);
