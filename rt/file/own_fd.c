// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors that the program may close; see own_fd.h.

#include "file/own_fd.h"

#include "file/outfile.h"
#include "sys/os_linux.h"

int mprof_own_fd_set(struct mprof_own_fd *d, long fd) {
  *d = (struct mprof_own_fd)MPROF_NO_FD;
  fd = mprof_outfile_move_high(fd);
  if (fd < 0)
    return (int)fd;
  d->fd = (int)fd;
  const long r = mprof_sys_fstat_id(d->fd, &d->dev, &d->ino);
  if (r != 0)
    mprof_own_fd_close(d);
  return (int)r;
}

bool mprof_own_fd_is_open(const struct mprof_own_fd *d) {
  return d->fd >= 0 && mprof_sys_has_id(d->fd, d->dev, d->ino);
}

void mprof_own_fd_close(struct mprof_own_fd *d) {
  if (mprof_own_fd_is_open(d))
    mprof_sys_close(d->fd);
  d->fd = -1;
}
