// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The helper process of the runtime: mprof finds the names of addresses for a
// profiled program that starts it. rt/symbolize/symbolizer_protocol.h describes
// the messages. A damaged file can end this process. Then the runtime starts it
// again for other files.

#ifndef MPROF_TOOL_SERVE_H
#define MPROF_TOOL_SERVE_H

// Answers requests until the runtime closes the connection. program: path of
// this program. The arguments are those after the name of the command. Returns
// an exit status.
int names_serve(const char *program, int count, char *const *arguments);

#endif
