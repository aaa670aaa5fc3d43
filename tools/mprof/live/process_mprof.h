// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a process shows from outside about MProf in it.

#ifndef MPROF_TOOL_PROCESS_MPROF_H
#define MPROF_TOOL_PROCESS_MPROF_H

#include <stdbool.h>

// Returns whether the program was built with MProf, or started with the library
// in LD_PRELOAD. A library that mprof attach has loaded does not count.
bool process_has_mprof(const char *pid);

// Returns how a process with MProf that has no HTTP server can be profiled: how
// it is to be started, and the signal of dump_on_signal, if its MPROF_OPTIONS
// have one that does not end it. The caller frees the text.
char *process_how_to_ask(const char *pid);

#endif
