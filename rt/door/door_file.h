// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files in memory that hold the body of a reply. A profile is written to such a
// file first, so that a client that reads slowly holds no lock of the runtime,
// and so that the length of the reply is known before its first byte is sent.

#ifndef MPROF_RT_DOOR_DOOR_FILE_H
#define MPROF_RT_DOOR_DOOR_FILE_H

#include "sys/base.h"

struct mprof_outfile;

// Maximum size of a file in bytes.
#define MPROF_DOOR_FILE_MAX (UINT64_C(256) << 20)

// A descriptor of the door, and the device and inode number of its file. They
// are compared before each use of the descriptor, because the program may have
// closed the descriptor and reused its number.
struct mprof_door_fd {
  int fd; // -1: none
  uint64_t dev, ino;
};
#define MPROF_DOOR_NO_FD {.fd = -1}

// Moves fd to a high number (mprof_outfile_move_high) and stores it in *d.
// Returns 0, or -errno if fd is an error or cannot be moved.
int mprof_door_fd_set(struct mprof_door_fd *d, long fd);
// Returns whether d still is the descriptor that was set.
bool mprof_door_fd_is_own(const struct mprof_door_fd *d);
// Closes the descriptor, unless the program has closed it before.
void mprof_door_fd_close(struct mprof_door_fd *d);

struct mprof_door_file {
  struct mprof_door_fd fd;
  uint64_t len;
};
// Sets whether files are written without the pauses that leave the processor to
// the program.
void mprof_door_file_hurry(bool does);
// Creates an empty file. Returns 0 or -errno.
int mprof_door_file_open(struct mprof_door_file *f);
// Creates a file and calls write(out, arg) to fill it. Returns 0 or -errno;
// after an error there is no file. Returns -EFBIG if the file would exceed
// MPROF_DOOR_FILE_MAX. gzip: the file is in gzip format.
int mprof_door_file_write(struct mprof_door_file *f, bool gzip,
                          int (*write)(struct mprof_outfile *out, void *arg),
                          void *arg);
// Sets f->len to the position up to which the file was written.
int mprof_door_file_measure(struct mprof_door_file *f);
void mprof_door_file_close(struct mprof_door_file *f);

#endif // MPROF_RT_DOOR_DOOR_FILE_H
