// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Search for a free number, for the names of output files. Thousands of numbers
// may be taken, so they are not tried one by one.

#ifndef MPROF_RT_SYS_FREE_NUMBER_H
#define MPROF_RT_SYS_FREE_NUMBER_H

#include "sys/base.h"

// Returns a number from first on that is not taken, or max if it finds none
// below max. Calls is_taken about log2(n) times.
unsigned mprof_free_number(unsigned first, unsigned max,
                           bool (*is_taken)(void *arg, unsigned number),
                           void *arg);

#endif // MPROF_RT_SYS_FREE_NUMBER_H
