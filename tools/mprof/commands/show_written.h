// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What mprof run and mprof attach show at the end: the largest rows of the
// files of a program, and the commands that show more. Prints to standard
// error.

#ifndef MPROF_TOOL_SHOW_WRITTEN_H
#define MPROF_TOOL_SHOW_WRITTEN_H

#include "commands/options.h"
#include "commands/written_files.h"

#include <stdint.h>

// start_ns: when the program was started, or mprof attached to it.
void show_written(const struct options *o, const struct written_files *f,
                  int64_t start_ns);

#endif
