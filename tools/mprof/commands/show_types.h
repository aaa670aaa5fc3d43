// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The output of mprof top --by=type.

#ifndef MPROF_TOOL_SHOW_TYPES_H
#define MPROF_TOOL_SHOW_TYPES_H

#include "commands/options.h"

// Prints the types of the blocks. Returns the exit status of the command.
int show_types(const struct options *options);

#endif
