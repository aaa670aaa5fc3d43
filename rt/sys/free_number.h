// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a free number to append to the name of an output file. Thousands of
// numbers may be taken, so the search does not check all of them.

#ifndef MPROF_RT_SYS_FREE_NUMBER_H
#define MPROF_RT_SYS_FREE_NUMBER_H

#include "sys/base.h"

// Returns a number in [first, max) for which is_taken returns false, or max if
// the search finds none. Calls is_taken O(log n) times, where n is the distance
// from first to the result.
unsigned mprof_free_number(unsigned first, unsigned max,
                           bool (*is_taken)(void *arg, unsigned number),
                           void *arg);

#endif // MPROF_RT_SYS_FREE_NUMBER_H
