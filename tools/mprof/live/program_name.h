// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of files for the profiles of a running program, such as
// server.4711.heap.pb.gz.

#ifndef MPROF_TOOL_PROGRAM_NAME_H
#define MPROF_TOOL_PROGRAM_NAME_H

#include "files/bytes.h"

// Stores "PROGRAM.PID.", so that files of different programs have different
// names. The process id of a TCP address is unknown. Stores "" if the program
// does not answer. size: at least 256. Returns the process id, or 0 if it is
// unknown.
int program_name(const char *target, char *name, size_t size);
// Returns the suffix for the file of a page.
const char *program_suffix(const struct bytes *b);

#endif
