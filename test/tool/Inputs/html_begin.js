// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says with which view a page begins.

setTimeout(() => console.log('step: begins with ' + document.body.dataset.view), 200);
