// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types and the protection of files, the contents of files of /proc and of
// pipes, and the program's command line.
// What os_linux.h says about its functions holds for these functions, too.

#ifndef MPROF_RT_SYS_OS_FILE_H
#define MPROF_RT_SYS_OS_FILE_H

#include "sys/base.h"

// Returns whether path names a special file, that is, an existing file that is
// neither a regular file nor a directory. An example is /dev/null. A special
// file must not be replaced by a rename.
bool mprof_os_is_special(const char *path);
// Returns whether path names a regular file.
bool mprof_os_is_file(const char *path);
// Returns whether both paths name the same file.
bool mprof_os_is_same_file(const char *a, const char *b);
// Returns whether fd refers to a regular file.
bool mprof_os_is_regular(int fd);
// Returns whether path is a regular file that this process may execute.
bool mprof_os_is_executable(const char *path);
// Returns whether only root or the user who started this process can change or
// replace the open file: this holds for the directories above it, too.
bool mprof_os_is_protected(int fd);
// Returns whether path is such a file that this process may execute. The
// directories of symbolic links must be protected, too.
bool mprof_os_is_trusted(const char *path);

// Copies the unread data of a pipe to buf without removing the data from the
// pipe. path: a path in /proc, such as /proc/self/fd/3, that names a read end
// of the pipe. Returns the length of the data or -errno. Returns -ENOBUFS if
// not all data could be copied. The function copies through a second pipe,
// which may be too small because of the user's limit for pipes.
long mprof_os_peek_pipe(const char *path, char *buf, size_t len);

// --- files of /proc ---

// A file in mapped memory, which grows while the file is read, because the size
// of a file of /proc is unknown before.
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

#endif // MPROF_RT_SYS_OS_FILE_H
