// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses each view, and says which chosen tabs and hints cannot be seen as a whole.

function *faults() {
  for (const tab of document.querySelectorAll('[role=tab]')) {
    location.hash = 'view=' + tab.textContent;
    yield;
    const {left, right} = tab.getBoundingClientRect(), hint = document.querySelector('.hover-line');
    if (tab.getAttribute('aria-selected') !== 'true' || left < 0 || right > innerWidth)
      say(innerWidth, `${tab.textContent} is from ${left} to ${right}`);
    if (hint && (!hint.textContent || hint.scrollWidth > hint.clientWidth || hint.scrollHeight > hint.clientHeight))
      say(innerWidth, `the hint of ${tab.textContent} is cut`);
  }
  say(innerWidth, `${document.querySelectorAll('[role=tab]').length} tabs, ` +
      `all at once: ${document.querySelector('.tabs').scrollWidth <= innerWidth}`);
}

const steps = faults();
const timer = setInterval(() => steps.next().done && clearInterval(timer), 300);
