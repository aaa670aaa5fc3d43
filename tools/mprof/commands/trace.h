// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MPROF_TOOL_TRACE_H
#define MPROF_TOOL_TRACE_H

// Runs mprof trace top. Returns the exit status.
int trace_top(int argc, char **argv);
// Runs mprof trace. argv[1] is top, json or check. Returns the exit status.
int trace_run(int argc, char **argv);

#endif
