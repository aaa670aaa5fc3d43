// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list that the option help=1 prints.

#ifndef MPROF_RT_SYS_FLAGS_HELP_H
#define MPROF_RT_SYS_FLAGS_HELP_H

// Prints all options with their values in mprof_flags, and the profiles, on
// stderr. Takes no lock.
void mprof_flags_print_help(void);

#endif // MPROF_RT_SYS_FLAGS_HELP_H
