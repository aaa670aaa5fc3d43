// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what the page tells about missing data.

setTimeout(() => {
  document.querySelectorAll('[role=tab]')[1].click();
  for (const {innerText} of document.querySelectorAll('.loss'))
    console.log('step: ' + innerText.replace(/\s+/g, ' '));
}, 200);
