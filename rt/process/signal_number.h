// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the name of a signal in an option.

#ifndef MPROF_RT_PROCESS_SIGNAL_NUMBER_H
#define MPROF_RT_PROCESS_SIGNAL_NUMBER_H

#include <stddef.h>

#define MPROF_SIGNALS 65 // signals have the numbers 1 to 64

// Returns the number of the signal that the len characters at s give: a number,
// or a name such as USR1 or SIGUSR1. Returns 0 if there is no such signal.
int mprof_signal_number(const char *s, size_t len);

#endif // MPROF_RT_PROCESS_SIGNAL_NUMBER_H
