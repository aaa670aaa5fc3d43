// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows the page in frames of two widths, and says what of the table of functions is
// visible, whether the lists of callers fit, and in how many columns a lock is.

function say(width, {document: page}) {
  page.querySelectorAll('[role=tab]')[2].click();
  const titles = [...page.querySelectorAll('th')].filter(cell => cell.offsetWidth);
  const view = page.querySelector('.view'), name = page.querySelector('td .name'), via = page.querySelector('td .via');
  const lines = element => Math.round(element.getBoundingClientRect().height / 20.3);
  console.log(`step: ${width}: ${titles.map(cell => cell.textContent.replace(/ \u2193/, '')).join(' ')}; ` +
      `fits: ${view.scrollWidth <= view.clientWidth}; name: ${name.textContent} ` +
      `${name.getBoundingClientRect().right <= width}; lines: ${lines(name)} ${lines(via)}`);
  page.querySelectorAll('[role=tab]')[3].click();
  const lists = [...page.querySelectorAll('.lists')], lock = page.createElement('div');
  lock.className = 'lock-sides';
  page.body.append(lock);
  const columns = page.defaultView.getComputedStyle(lock).gridTemplateColumns.split(' ').length;
  console.log(`step: ${width}: callers fit: ${lists.every(l => l.scrollWidth <= l.clientWidth)}; ` +
      `lines: ${lines(lists[0].querySelector('td .name'))}; columns of a lock: ${columns}`);
}

const script = [...document.scripts].find(({type, text}) => !type && text.includes('class Model')).text;
for (const width of [600, 1200]) {
  const frame = document.createElement('iframe');
  frame.width = width;
  frame.height = 700;
  document.body.append(frame);
  const {contentWindow, contentDocument} = frame;
  contentDocument.open();
  contentDocument.write(`<!DOCTYPE html><style>${document.querySelector('style').textContent}</style><body>`);
  contentDocument.close();
  const data = document.getElementById('data').cloneNode(true);
  contentDocument.body.append(data);
  const code = contentDocument.createElement('script');
  code.text = script;
  contentDocument.body.append(code);
  setTimeout(() => say(width, contentWindow), 300);
}
