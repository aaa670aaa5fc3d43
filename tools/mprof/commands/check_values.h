// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the values of options whose syntax only the runtime knows.

#ifndef MPROF_TOOL_CHECK_VALUES_H
#define MPROF_TOOL_CHECK_VALUES_H

#include "options/flags.h"

#include <stdbool.h>

// Starts a process of this program that loads the runtime with the values of
// such options, and prints the runtime's messages to standard error. Returns
// false if there are any. Does not check paths and addresses, because the
// options may be those of a process of another user: the new process gets no
// option that makes it open, create or execute a file. Returns true if the
// runtime's library cannot be loaded.
bool runtime_accepts(const struct mprof_flags *flags);

#endif
