// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints commands for the user to run next.

#ifndef MPROF_TOOL_NEXT_COMMAND_H
#define MPROF_TOOL_NEXT_COMMAND_H

#include "commands/options.h"

// Prints "mprof COMMAND PATH", with the path quoted for a shell.
void next_command_put(FILE *out, const char *command, const char *path);
// Prints one line with the command that shows more of what the user has just
// seen. Prints nothing if there is none, or if the output was no text.
void next_command_print(const struct options *options, FILE *out);

#endif
