// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts without allocating memory, and searches for a free number. qsort is not
// used, because qsort may allocate memory.

#ifndef MPROF_RT_SYS_SORT_H
#define MPROF_RT_SYS_SORT_H

#include "sys/base.h"

// Sorts the n pointers in v (heapsort). comes_before(a, b) returns whether a
// comes before b in the result. If neither comes before the other, they are in
// the order of their addresses.
void mprof_sort(void **v, size_t n,
                bool (*comes_before)(const void *, const void *));

// Returns a number in [first, max) for which is_taken returns false, or max if
// the search finds none. Calls is_taken O(log n) times, where n is the distance
// from first to the result.
unsigned mprof_free_number(unsigned first, unsigned max,
                           bool (*is_taken)(void *arg, unsigned number),
                           void *arg);

#endif // MPROF_RT_SYS_SORT_H
