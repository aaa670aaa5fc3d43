// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens, writes and closes a file; see write_file.h.

#include "write/write_file.h"

#include "file/outfile.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_memory.h"

#include <errno.h>

int mprof_write_file(const char *path, bool gzip,
                     int (*write)(struct mprof_outfile *f, void *arg),
                     void *arg) {
  struct mprof_outfile *f = mprof_os_map(sizeof(*f));
  if (f == NULL)
    return -ENOMEM;
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  int error = path == NULL ? mprof_outfile_open_stderr(f)
                           : mprof_outfile_open(f, path, gzip);
  if (error == 0) {
    mprof_outfile_fail(f, write(f, arg));
    error = mprof_outfile_close(f);
  }
  MPROF_ASSERT(error <= 0);
  mprof_os_unmap(f, sizeof(*f));
  return error;
}
