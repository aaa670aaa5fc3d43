// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses and numbers what a page has.

#ifndef MPROF_TOOL_PAGE_NUMBERS_H
#define MPROF_TOOL_PAGE_NUMBERS_H

struct page;

// Chooses what the page has of its tables, and numbers it.
void page_number(struct page *page);
void page_free_numbers(struct page *page);

#endif
