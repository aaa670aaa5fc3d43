// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows long output page by page, as git does: through the program that
// MPROF_PAGER or PAGER names, or less. The value cat or an empty value turns
// the pager off.

#ifndef MPROF_TOOL_PAGER_H
#define MPROF_TOOL_PAGER_H

// Starts the pager if standard output is a terminal, and redirects standard
// output to it. Find the style of the output before this call: afterwards,
// standard output is a pipe.
void pager_start(void);
// Ends the output, and waits until the user has left the pager.
void pager_finish(void);

#endif
