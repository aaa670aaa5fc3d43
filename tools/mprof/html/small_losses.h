// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each function loses when small stacks are cut off a page. The table of
// functions adds these values again, and so is exact without a filter.

#ifndef MPROF_TOOL_SMALL_LOSSES_H
#define MPROF_TOOL_SMALL_LOSSES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct page;
struct page_set;
struct small_losses;

struct small_losses *small_losses_new(const struct page *page, unsigned types);
// Adds the values of stack i of the set, of which the frames below the node
// `kept` are cut off.
void small_losses_add(struct small_losses *small, const struct page *page,
                      const struct page_set *set, size_t i, uint32_t kept);
// Returns about how many bytes small_losses_write would write for all
// functions.
size_t small_losses_bytes(const struct page *page, unsigned types);
// Chooses the functions, files and lines with the largest losses, so that
// `most` bytes suffice. The losses of the others are added up.
void small_losses_choose(struct small_losses *small, const struct page *page,
                         size_t most);
// Sets the flags of the functions, lines and files that small_losses_write
// writes.
void small_losses_mark(const struct small_losses *small, uint8_t *const *used);
// Writes members of an object of JSON, each after a comma.
void small_losses_write(const struct small_losses *small,
                        const struct page *page, FILE *out);
void small_losses_free(struct small_losses *small);

#endif
