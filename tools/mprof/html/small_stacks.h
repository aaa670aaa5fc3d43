// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts stacks with small values off the call tree of a large page, so that a
// browser can show it. The frames below which all values are small become one
// frame, and its value is the sum of theirs. What each function loses is kept
// for the table of functions (small_losses.h).

#ifndef MPROF_TOOL_SMALL_STACKS_H
#define MPROF_TOOL_SMALL_STACKS_H

#include <stddef.h>

struct page;

// Cuts the tree if its tables would have more than `most` bytes. Returns about
// how many bytes they have.
size_t small_stacks_cut(struct page *page, size_t most);

#endif
