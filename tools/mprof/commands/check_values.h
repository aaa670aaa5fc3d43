// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the values of options that only the runtime can check, such as
// dump_on_signal.

#ifndef MPROF_TOOL_CHECK_VALUES_H
#define MPROF_TOOL_CHECK_VALUES_H

#include <stdbool.h>

// Starts a process of this program that loads the runtime with the options, and
// prints the runtime's messages to standard error. Returns false if there are
// any. The process opens no door and leaves no files, so paths and addresses
// are not checked. Returns true if the runtime's library cannot be loaded.
bool runtime_accepts(const char *text);

#endif
