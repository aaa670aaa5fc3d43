// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows the page in frames of some widths, and says whether all of it can be seen, and
// where the names are.

const text = document.documentElement.outerHTML.replace(/<script[^]*<\/script>/g, '');
for (const width of [390, 1200]) {
  const frame = document.createElement('iframe');
  frame.width = width;
  frame.height = 700;
  document.body.append(frame);
  const {contentDocument: page} = frame;
  page.open();
  page.write(text);
  page.close();
  setTimeout(() => {
    const right = Math.max(...[...page.body.querySelectorAll('*')].map(e => e.getBoundingClientRect().right));
    const [value, name] = [1, 5].map(n => page.querySelector(`td:nth-child(${n})`).getBoundingClientRect());
    say(width, `fits: ${right <= width && page.documentElement.scrollWidth <= width}; ` +
        `the name is ${name.top >= value.bottom ? 'below' : 'beside'} the values`);
  }, 300);
}
