// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens, writes and closes a file. Also writes one profile while the program
// runs, because the program or a client of the HTTP server (http/server.h) asks
// for it.

#ifndef MPROF_RT_WRITE_WRITE_FILE_H
#define MPROF_RT_WRITE_WRITE_FILE_H

#include "write/profile_kind.h"

// Opens the file `path`, calls write(f, arg) to fill it, and closes it. Returns
// 0 or -errno. On an error, an existing file of this name stays unchanged. Call
// with writer_lock held.
// path: name of the file; NULL: writes to stderr instead.
// gzip: true: the file is in gzip format, but without compression.
int mprof_write_file(const char *path, bool gzip,
                     int (*write)(struct mprof_outfile *f, void *arg),
                     void *arg);

// --- profiles on request ---

struct mprof_profile_request {
  const struct mprof_profile_row *row;
  struct mprof_profile_taking taking;
  void *copy; // made by mprof_profile_take; NULL: none
};

// Finds the profile that is called `name` and stores it in *r. Returns false if
// there is no profile with this name.
bool mprof_profile_find(struct mprof_profile_request *r, const char *name);
// Takes a copy of the profile's data. Returns 0, -ENOTSUP if the profile needs
// an option that is not set, or another -errno. Call with the recursion guard
// set and writer_lock held.
int mprof_profile_take(struct mprof_profile_request *r);
// Writes the copy to f. Returns 0 or -errno. Call with writer_lock held.
int mprof_profile_put(struct mprof_outfile *f,
                      const struct mprof_profile_request *r);
// Frees the copy. Does nothing if there is none.
void mprof_profile_drop(struct mprof_profile_request *r);

#endif // MPROF_RT_WRITE_WRITE_FILE_H
