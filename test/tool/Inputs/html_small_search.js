// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches a page with small stacks: a function that is in many of them, two of these, and
// none.

const find = selector => document.querySelector(selector);

setTimeout(() => {
  document.querySelectorAll('[role=tab]')[2].click();
  const values = find('[aria-label=Values]');
  values.value = [...values.options].find(option => option.text === 'alloc_space').value;
  values.dispatchEvent(new Event('change'));
  for (const expression of ['^f7$', '^f[78]$', '^none$']) {
    search(expression);
    if (expression === '^f7$')
      console.log('step: f7 with callees: ' + find('tbody tr').children[2].textContent);
    console.log('step: ' + find('.total').textContent.replace(/.*; /, ''));
  }
}, 200);
