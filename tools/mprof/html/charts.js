// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The views of other things than one profile.
function moreViews(app) {
  return [];
}
