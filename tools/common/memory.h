// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for the tools. If memory runs out, these functions print a
// message and exit with status 2. So callers need not check for NULL.

#ifndef MPROF_TOOLS_MEMORY_H
#define MPROF_TOOLS_MEMORY_H

#include <stddef.h>

// Makes room for count elements of size bytes each. Updates *capacity and
// returns the array, which may have moved. Does not initialize the new
// elements.
void *grow(void *array, size_t *capacity, size_t count, size_t size);
// Returns a new array of count elements that are all zero.
void *zeroed(size_t count, size_t size);
// Returns the text that printf would print. The caller frees it.
__attribute__((format(printf, 1, 2))) char *text_of(const char *format, ...);
// Adds one uninitialized element to the array. The value of the expression is a
// pointer to the new element.
#define APPEND(array, count, capacity)                                         \
  ((array) = grow((array), &(capacity), (count) + 1, sizeof *(array)),         \
   &(array)[(count)++])

#endif
