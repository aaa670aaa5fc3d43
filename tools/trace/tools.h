// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands mprof trace json and mprof trace check, and what the commands
// that read traces share. Each function gets its arguments as main does, and
// returns the exit status.

#ifndef MPROF_TRACE_TOOLS_H
#define MPROF_TRACE_TOOLS_H

#include <stdio.h>

// How the user called the command, for messages. Set it before the call.
extern const char *trace_tool_name;

// Prints a line to standard error. A name of a file or a text of a trace cannot
// send commands to the terminal.
__attribute__((format(printf, 1, 2))) void trace_say(const char *format, ...);

// Prints the help of a verb of mprof trace: "top", "json" or "check".
void trace_usage(FILE *out, const char *verb);
// Prints only the options of the verb.
void trace_usage_options(FILE *out, const char *verb);

int trace_json(int argc, char **argv);
int trace_check(int argc, char **argv);

#endif
