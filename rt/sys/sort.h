// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Heapsort of pointers.

#ifndef MPROF_RT_SYS_SORT_H
#define MPROF_RT_SYS_SORT_H

#include "sys/base.h"

// Heapsort: pointers go in the order that comes_before says. Does not allocate,
// as qsort may.
void mprof_sort(void **v, size_t n,
                bool (*comes_before)(const void *, const void *));

#endif // MPROF_RT_SYS_SORT_H
