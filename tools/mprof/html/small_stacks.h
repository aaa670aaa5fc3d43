// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts stacks with small values off the call tree of a large page, so that a
// browser can show it. The frames below which all values are small become one
// frame, and its value is what they had. What each function loses is kept for
// the table of functions, which is exact without a filter.

#ifndef MPROF_TOOL_SMALL_STACKS_H
#define MPROF_TOOL_SMALL_STACKS_H

#include <stdio.h>

struct page;
struct page_set;

// The values of the stacks of a profile that were cut off.
struct small_stacks;

// Cuts the tree if the page is large.
void small_stacks_cut(struct page *page);
// Writes the losses of the functions as a member of an object of JSON.
void small_stacks_write(const struct page *page, const struct page_set *set,
                        FILE *out);
void small_stacks_free(struct small_stacks *small);

#endif
