// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks in each view for controls without a name, labels without a role, and text
// with too little contrast. A background that is drawn in a part of an element
// counts as a background of all its text.

const faults = new Set();
let texts = 0, controls = 0;
const fault = (what, e) => faults.add(`${what} in ${document.body.dataset.view}: ${e.outerHTML.slice(0, 120)}`);

// [red, green, blue, alpha] of "rgb(1, 2, 3)", "rgba(...)" or "color(srgb ...)"
function parts(colour) {
  const numbers = colour.match(/[\d.]+/g).map(Number);
  return [...numbers.slice(0, 3), numbers.length > 3 ? numbers[3] : 1];
}

function over(top, below) {
  return [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
}

function luminance(rgb) {
  const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

// All colours that may be behind the text of an element.
function backgrounds(element) {
  if (!element)
    return [parts(getComputedStyle(document.documentElement).colorScheme.includes('dark') && isDark() ?
        'rgb(22, 24, 29)' : 'rgb(255, 255, 255)')];
  const style = getComputedStyle(element), own = parts(style.backgroundColor);
  const below = own[3] === 1 ? [own] : backgrounds(element.parentElement).map(b => [...over(own, b), 1]);
  const drawn = style.backgroundImage.match(/rgba?\([^)]*\)/g) || [];
  return [...below, ...drawn.map(parts).filter(c => c[3] === 1)];
}

function name(e) {
  const label = e.closest('label') || (e.id && document.querySelector(`label[for="${e.id}"]`));
  return (e.getAttribute('aria-label') || (label || e).innerText || e.title || '').trim();
}

function look() {
  const shown = e => e.getClientRects().length > 0;
  for (const e of document.querySelectorAll('button, input, select, a, summary, canvas, [tabindex]')) {
    if (!shown(e) || e.closest('[aria-hidden=true]'))
      continue;
    controls++;
    if (!name(e))
      fault('fault: no name', e);
    if (e.tabIndex >= 0 && /^(DIV|CANVAS|SPAN)$/.test(e.tagName) && !e.getAttribute('role'))
      fault('fault: no role', e);
  }
  for (const e of document.querySelectorAll('[aria-label]'))
    if (/^(DIV|SPAN|CANVAS|P)$/.test(e.tagName) && !e.getAttribute('role'))
      fault('fault: a label without a role', e);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.data.trim() || !shown(e) || e.closest('script, noscript, svg'))
      continue;
    texts++;
    const colour = parts(getComputedStyle(e).color);
    const least = Math.min(...backgrounds(e).map(b => contrast(over(colour, b), b)));
    if (least < 4.5)
      fault(`fault: contrast ${least.toFixed(2)} of "${node.data.slice(0, 30)}"`, e);
  }
}

setTimeout(() => {
  const tabs = document.querySelectorAll('[role=tab]');
  if (!document.querySelector('h1') || !document.querySelector('main') || !document.querySelector('header'))
    fault('fault: no landmarks', document.body);
  for (const tab of tabs) {
    tab.click();
    look();
  }
  for (const f of faults)
    console.log('step: ' + f);
  console.log(`step: ${tabs.length} views, ${texts} texts, ${controls} controls`);
}, 300);
