// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows a text that the runtime has written for people, such as the report of
// stuck threads.

#ifndef MPROF_TOOL_SHOW_REPORT_H
#define MPROF_TOOL_SHOW_REPORT_H

#include "commands/options.h"

// Prints the file if its first line is "MProf VERSION TITLE". Returns whether
// it is such a file.
bool show_report(const struct options *options, const char *path,
                 const char *title);

#endif
