// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls that only the writers of profiles need: for the types and
// the protection of files, for pipes, and for the memory and the rights of the
// process. Other code uses mprof_os_copy on slow paths. All functions bypass
// libc, as those of os_linux.h do.

#ifndef MPROF_RT_SYS_OS_LINUX_COLD_H
#define MPROF_RT_SYS_OS_LINUX_COLD_H

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

long mprof_sys_pread(int fd, void *buf, size_t len, uint64_t offset);
// Copies up to len bytes at address addr of this process to buf. The kernel
// makes the copy, so no fault can occur if another thread unmaps the memory.
// Returns the number of bytes that could be read, or -errno.
long mprof_os_peek(uintptr_t addr, void *buf, size_t len);
// Copies len bytes at address `from` of this process, which the program may
// unmap at any time. Returns false if not all of them are readable. The kernel
// makes the copy, so no fault can occur. Only if it refuses to do so (seccomp,
// no /proc), the function checks that each page is readable, and then reads.
// Async-signal-safe.
bool mprof_os_copy(void *to, uintptr_t from, size_t len);
// Returns whether the four bytes at addr, a multiple of 4, are in memory that
// must not be written. Returns false if a seccomp filter refuses the call.
bool mprof_sys_is_read_only(uintptr_t addr);
// Stores in pages[i] whether page i of a mapping is in memory. Returns 0 or
// -errno.
long mprof_sys_mincore(uintptr_t start, size_t len, unsigned char *pages);
// Copies the unread data of a pipe to buf without removing the data from the
// pipe. path: a path in /proc, such as /proc/self/fd/3, that names a read end
// of the pipe. Returns the length of the data or -errno. Returns -ENOBUFS if
// not all data could be copied. The function copies through a second pipe,
// which may be too small because of the user's limit for pipes.
long mprof_os_peek_pipe(const char *path, char *buf, size_t len);
// Changes the access rights of the pages of a mapping to protection. Returns 0
// or -errno.
long mprof_sys_mprotect(uintptr_t start, size_t len, int protection);
// Adds nice to the nice value of the calling process.
void mprof_sys_lower_own_priority(int nice);
// Returns the effective user id of the process if it is not the same as at the
// start of the program, otherwise -1.
long mprof_sys_new_user(void);

#endif // MPROF_RT_SYS_OS_LINUX_COLD_H
