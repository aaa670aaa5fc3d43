// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one file from its opening to its closing.

#ifndef MPROF_RT_WRITE_WRITE_FILE_H
#define MPROF_RT_WRITE_WRITE_FILE_H

#include <stdbool.h>

struct mprof_outfile;

// Opens path, or stderr if path is NULL. Calls write to fill the file, and
// closes the file. gzip: the contents are wrapped in gzip without compression.
// Returns 0 or -errno. On an error, an existing file of this name is kept.
int mprof_write_file(const char *path, bool gzip,
                     int (*write)(struct mprof_outfile *f, void *arg),
                     void *arg);

#endif // MPROF_RT_WRITE_WRITE_FILE_H
