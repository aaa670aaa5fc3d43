// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says with which view and profile a page begins.

setTimeout(() => console.log('step: ' +
    document.querySelector('[role=tab][aria-selected=true]').textContent + ' of ' +
    document.querySelector('select').selectedOptions[0].textContent), 200);
