// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the profiles of processes that have ended without writing them.

#ifndef MPROF_TOOL_RECOVER_H
#define MPROF_TOOL_RECOVER_H

#include "commands/options.h"
#include "commands/written_files.h"

// The end of the names of the files that recover_ended reads.
#define RECOVER_SUFFIX ".persist"

// Makes profiles of the new files with this suffix in the directory, and
// removes these files. Leaves the files of processes that still run.
void recover_ended(const struct options *options, const char *directory,
                   const struct file_names *before);

#endif
