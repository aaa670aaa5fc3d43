// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads files of /proc: a whole file into mapped memory, or the begin of a file
// into a buffer. The mapped memory grows while the file is read, because the
// size of such a file is unknown before.

#ifndef MPROF_RT_SYS_PROCFILE_H
#define MPROF_RT_SYS_PROCFILE_H

#include "sys/base.h"

struct mprof_procfile {
  char *data; // contents of the file, followed by a 0
  size_t len, mapped_bytes;
};
// Reads the file path into *f. Returns 0 or -errno. Free *f with
// mprof_procfile_free.
int mprof_procfile_read(struct mprof_procfile *f, const char *path);
// Reads the file that is open as fd from its begin. Leaves fd open. Returns 0
// or -errno.
int mprof_procfile_read_again(struct mprof_procfile *f, int fd);
void mprof_procfile_free(struct mprof_procfile *f);
// Reads the begin of a file, at most cap - 1 bytes, into buf, and ends it with
// a 0. Returns the number of bytes, or -errno; buf is then empty.
long mprof_procfile_begin(const char *path, char *buf, size_t cap);
// Writes the program's arguments to buf, separated by blanks. If the program
// has set a title (setproctitle), writes the first argument that the program
// had at start, and " ..." if there were more arguments. Truncates the text to
// len bytes, including the terminating 0. Writes "" if the arguments are
// unknown.
void mprof_command_line(char *buf, size_t len);
// Keeps a copy of the first argument, so that a later title can be recognised.
// argv: the arguments of main. Call at start, while no other thread runs.
// Without this call, mprof_command_line writes the present title.
void mprof_command_keep(char *const *argv);
// Writes the title that the program has given itself to buf, without padding,
// and returns true. Returns false if the program has set no title.
bool mprof_command_title(char *buf, size_t len);

#endif // MPROF_RT_SYS_PROCFILE_H
