// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types and the protection of files, and the contents of files and pipes.
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

#endif // MPROF_RT_SYS_OS_FILE_H
