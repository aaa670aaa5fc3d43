// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of the commands that show an execution trace.

#ifndef MPROF_TOOL_TRACE_END_H
#define MPROF_TOOL_TRACE_END_H

#include "commands/options.h"

// Prints a message if the trace violates its format. wrong: what the violations
// make wrong, with the verb, such as "the JSON is".
void trace_complain(const struct options *options, const char *path,
                    uint64_t violations, const char *wrong);
// Does the same, and writes standard output. Returns the exit status.
int trace_end(const struct options *options, const char *path,
              uint64_t violations, const char *wrong);

#endif
