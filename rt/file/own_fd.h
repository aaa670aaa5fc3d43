// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors that the runtime keeps open while the program runs. The program
// may close such a descriptor, for example a daemon that closes all, and the
// kernel may then give its number to another file. So the device and inode
// number of the file are compared before each use.

#ifndef MPROF_RT_FILE_OWN_FD_H
#define MPROF_RT_FILE_OWN_FD_H

#include "sys/base.h"

struct mprof_own_fd {
  int fd; // -1: none
  uint64_t dev, ino;
};
#define MPROF_NO_FD {.fd = -1}

// Moves fd to a high number (mprof_outfile_move_high) and stores it in *d.
// Returns 0, or -errno if fd is an error or cannot be moved.
int mprof_own_fd_set(struct mprof_own_fd *d, long fd);
// Returns whether d still is the descriptor that was set.
bool mprof_own_fd_is_open(const struct mprof_own_fd *d);
// Closes the descriptor, unless the program has closed it before.
void mprof_own_fd_close(struct mprof_own_fd *d);

#endif // MPROF_RT_FILE_OWN_FD_H
