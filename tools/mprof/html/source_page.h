// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source lines in a page.

#ifndef MPROF_TOOL_SOURCE_PAGE_H
#define MPROF_TOOL_SOURCE_PAGE_H

#include <stddef.h>
#include <stdio.h>

struct page;

// Writes the source lines of the functions that the page has, as JSON of about
// `most` bytes. directory: where to look for files, or NULL.
void page_write_sources(const struct page *page, const char *directory,
                        size_t most, FILE *out);

#endif
