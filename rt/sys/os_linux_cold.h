// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls that only the writers of profiles need: the types of files,
// pipes, and a helper process that the program does not notice. All bypass
// libc, like the system calls of os_linux.h.

#ifndef MPROF_RT_SYS_OS_LINUX_COLD_H
#define MPROF_RT_SYS_OS_LINUX_COLD_H

#include "sys/base.h"

// Returns whether path names a special file, that is, neither a regular file
// nor a directory. An example is /dev/null. Such a file must not be replaced by
// a rename.
bool mprof_os_is_special(const char *path);
// Returns whether path names a regular file.
bool mprof_os_is_file(const char *path);
// Returns whether both paths name the same file.
bool mprof_os_is_same_file(const char *a, const char *b);
// Returns whether fd refers to a regular file.
bool mprof_os_is_regular(int fd);
// Returns whether path is a regular file that this process may execute.
bool mprof_os_is_executable(const char *path);

long mprof_sys_pread(int fd, void *buf, size_t len, uint64_t offset);
// Stores for each page of a mapping whether the page is in memory. Returns 0 or
// -errno.
long mprof_sys_mincore(uintptr_t start, size_t len, unsigned char *pages);
// Copies the unread contents of a pipe to buf without removing them from the
// pipe. path is the name in /proc of a descriptor of the pipe's read end.
// Returns the length or -errno. Returns -ENOBUFS if the contents do not fit,
// because the user's limit allows no further pipe that is large enough.
long mprof_os_peek_pipe(const char *path, char *buf, size_t len);
// Changes the access rights of the pages of a mapping. Returns 0 or -errno.
long mprof_sys_mprotect(uintptr_t start, size_t len, int protection);
// Called in the helper. may = true: allows the helper to read its own files in
// /proc. As a side effect, a crash of the helper then leaves a core file.
void mprof_helper_look_at_itself(bool may);

// A helper: a forked copy of this process, which runs a given function main(fd)
// and then ends. The helper blocks every signal, and its end raises no SIGCHLD.
// The program's wait functions do not report the helper. The helper's
// descriptors 0 to 2 are /dev/null. All other descriptors are closed in the
// helper, except fd.
struct mprof_helper {
  int pid; // 0: none
  int fd;  // the program's end of the connection
};
// Starts a helper. Returns 0 or -errno. keep_stderr, for debugging: the helper
// keeps the program's stderr.
int mprof_helper_start(struct mprof_helper *h, void (*main)(int fd),
                       bool keep_stderr);
// Send or receive one whole message. If the other end is closed, no signal is
// raised. timeout_ms: how long the receiver waits; -1: no limit. Return the
// length of the message, 0 at the end of the connection, or -errno, which is
// -ETIMEDOUT after the timeout.
long mprof_helper_send(int fd, const void *data, size_t len);
long mprof_helper_receive(int fd, void *data, size_t len, int timeout_ms);
// Closes the connection and waits for the end of the helper. Kills the helper
// if it has not ended after a second.
void mprof_helper_stop(struct mprof_helper *h);
// Closes the connection and kills the helper at once.
void mprof_helper_kill(struct mprof_helper *h);
// Called in a forked child, which must not use the parent's helper. Closes the
// child's copy of the connection. Otherwise the helper would not see the end of
// the connection when the parent closes its own copy.
void mprof_helper_forget(struct mprof_helper *h);

// --- called in the helper ---

// A program that the helper has started. Its standard input and output are
// pipes.
struct mprof_child {
  int pid;     // 0: none
  int in, out; // write end of its input, read end of its output
};
// Starts program path with the environment of this process. args has the few
// arguments that follow the program's name, and ends with NULL. Returns 0 or
// -errno. If path cannot be executed, the output of *c ends at once. The
// started program ends when the calling process ends.
int mprof_child_start(struct mprof_child *c, const char *path,
                      const char *const args[]);

#endif // MPROF_RT_SYS_OS_LINUX_COLD_H
