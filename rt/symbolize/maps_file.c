// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the list of the mappings; see maps_file.h.

#include "symbolize/maps_file.h"

#include "file/outfile.h"
#include "sys/os_linux.h"

#include <fcntl.h>

static const char path[] = "/proc/self/maps";
static struct mprof_own_fd kept = MPROF_NO_FD; // guarded by writer_lock

int mprof_maps_file_read(struct mprof_procfile *f) {
  const int error = mprof_procfile_read(f, path);
  return error != 0 && mprof_own_fd_is_open(&kept)
             ? mprof_procfile_read_again(f, kept.fd)
             : error;
}

void mprof_maps_file_keep_open(void) {
  if (!mprof_own_fd_is_open(&kept))
    mprof_own_fd_set(&kept, mprof_sys_open(path, O_RDONLY | O_CLOEXEC, 0));
}

void mprof_maps_file_forget(void) { mprof_own_fd_close(&kept); }
