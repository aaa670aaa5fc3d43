// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options --node and --java of mprof run: programs that make code at run
// time then write the names of their functions for perf, and keep frame
// pointers. Their environment variables say so, so that scripts and children
// get the switches, too.

#ifndef MPROF_TOOL_JIT_SWITCHES_H
#define MPROF_TOOL_JIT_SWITCHES_H

#include "commands/options.h"

// Sets the environment variables for the options.
void jit_switches_set(const struct options *o);
// Prints a note if the program is known to need an option that is not given.
void jit_switches_hint(const struct options *o);

#endif
