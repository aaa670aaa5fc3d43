// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first free number.

#ifndef MPROF_RT_SYS_FREE_NUMBER_H
#define MPROF_RT_SYS_FREE_NUMBER_H

#include "sys/base.h"

// A number from first on that is not taken, by some log2(n) questions; max
// where none below it is found.
unsigned mprof_free_number(unsigned first, unsigned max,
                           bool (*is_taken)(void *arg, unsigned number),
                           void *arg);

#endif // MPROF_RT_SYS_FREE_NUMBER_H
