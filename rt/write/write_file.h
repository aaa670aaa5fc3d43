// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens, writes and closes a file.

#ifndef MPROF_RT_WRITE_WRITE_FILE_H
#define MPROF_RT_WRITE_WRITE_FILE_H

#include <stdbool.h>

struct mprof_outfile;

// Opens the file `path`, calls write(f, arg) to fill it, and closes it. Returns
// 0 or -errno. On an error, an existing file of this name stays unchanged. Call
// with writer_lock held.
// path: name of the file; NULL: writes to stderr instead.
// gzip: true: the file is in gzip format, but without compression.
int mprof_write_file(const char *path, bool gzip,
                     int (*write)(struct mprof_outfile *f, void *arg),
                     void *arg);

#endif // MPROF_RT_WRITE_WRITE_FILE_H
