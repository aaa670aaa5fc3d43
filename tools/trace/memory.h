// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for the trace tools. If there is no memory, these functions print a
// message and exit with status 2, so no caller checks for NULL.

#ifndef MPROF_TRACE_MEMORY_H
#define MPROF_TRACE_MEMORY_H

#include <stddef.h>

// Reallocates the array if it has no room for count elements of size bytes.
// Updates *capacity and returns the array. The new elements are not
// initialized.
void *grow(void *array, size_t *capacity, size_t count, size_t size);
// Returns a new array of count elements that are all zero.
void *zeroed(size_t count, size_t size);
// Adds one uninitialized element to the array and returns a pointer to it.
#define APPEND(array, count, capacity)                                         \
  ((array) = grow((array), &(capacity), (count) + 1, sizeof *(array)),         \
   &(array)[(count)++])

#endif
