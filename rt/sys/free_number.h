// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds a free number to append to the name of an output file. Thousands of
// numbers may be taken, so they are not checked one by one.

#ifndef MPROF_RT_SYS_FREE_NUMBER_H
#define MPROF_RT_SYS_FREE_NUMBER_H

#include "sys/base.h"

// Returns a number in [first, max) that is not taken, or max if it finds none.
// Calls is_taken about log2(n) times, where n is the distance from first to the
// result.
unsigned mprof_free_number(unsigned first, unsigned max,
                           bool (*is_taken)(void *arg, unsigned number),
                           void *arg);

#endif // MPROF_RT_SYS_FREE_NUMBER_H
