// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorting without memory from the heap. qsort may allocate.

#ifndef MPROF_RT_SYS_SORT_H
#define MPROF_RT_SYS_SORT_H

#include "sys/base.h"

// Sorts n pointers (heapsort). comes_before says whether the first element
// comes before the second.
void mprof_sort(void **v, size_t n,
                bool (*comes_before)(const void *, const void *));

#endif // MPROF_RT_SYS_SORT_H
