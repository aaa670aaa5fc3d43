// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens each tab from the overview, and says which profile and values it shows.

const chosen = title => {
  const menu = document.querySelector(`select[title="${title}"]`);
  return menu ? menu.selectedOptions[0].textContent : 'the only one';
};

setTimeout(() => {
  const [overview, ...tabs] = document.querySelectorAll('[role=tab]');
  for (const tab of tabs) {
    overview.click();
    tab.click();
    console.log(`step: ${tab.textContent}: ${chosen('Values')} of ${chosen('Profile')}`);
  }
}, 200);
