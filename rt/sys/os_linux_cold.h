// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls that only writers need: the kinds of files, pipes, and a helper
// process that the program does not notice. Like os_linux.h, they bypass libc.

#ifndef MPROF_RT_SYS_OS_LINUX_COLD_H
#define MPROF_RT_SYS_OS_LINUX_COLD_H

#include "sys/base.h"

// Returns whether path names neither a regular file nor a directory, but for
// example /dev/null. A rename would destroy such a file.
bool mprof_os_is_special(const char *path);
// Returns whether path names a regular file.
bool mprof_os_is_file(const char *path);
// Returns whether fd refers to a regular file.
bool mprof_os_is_regular(int fd);
// Returns whether path is a regular file that this process may execute.
bool mprof_os_is_executable(const char *path);

long mprof_sys_pread(int fd, void *buf, size_t len, uint64_t offset);
// Stores for each page of a mapping whether it is in memory. 0 or -errno.
long mprof_sys_mincore(uintptr_t start, size_t len, unsigned char *pages);
// Copies the unread contents of a pipe and leaves them in the pipe. path names
// a descriptor of its read end in /proc. Returns the length or -errno; -ENOBUFS
// if the user may not have another pipe that is large enough.
long mprof_os_peek_pipe(const char *path, char *buf, size_t len);
// Changes the access rights of the pages of a mapping. 0 or -errno.
long mprof_sys_mprotect(uintptr_t start, size_t len, int protection);
// Called in a helper: lets it read its own files in /proc. While it may, a
// crash leaves a core file.
void mprof_helper_look_at_itself(bool may);

// A helper: a copy of this process that runs main with one descriptor and then
// ends. It blocks every signal, and its end raises none. The wait functions of
// the program do not see it. Its standard descriptors are /dev/null; all other
// descriptors but its own are closed.
struct mprof_helper {
  int pid; // 0: none
  int fd;  // the program's end of the connection
};
// Starts a helper. Returns 0 or -errno. keep_stderr is for debugging.
int mprof_helper_start(struct mprof_helper *h, void (*main)(int fd),
                       bool keep_stderr);
// Send or receive one whole message. No signal is raised if the other end is
// closed. timeout_ms: how long the receiver waits, -1: without limit. Return
// the length, 0 at the end of the connection, or -errno; -ETIMEDOUT after the
// timeout.
long mprof_helper_send(int fd, const void *data, size_t len);
long mprof_helper_receive(int fd, void *data, size_t len, int timeout_ms);
// Closes the connection and waits for the end of the helper. Kills it after a
// second.
void mprof_helper_stop(struct mprof_helper *h);
// Closes the connection and kills the helper at once.
void mprof_helper_kill(struct mprof_helper *h);
// Called in a forked child: leaves the helper to the parent. The helper sees
// the end of the connection only when no process has it open any more.
void mprof_helper_forget(struct mprof_helper *h);

// --- called in the helper ---

// A program whose standard input and output are pipes.
struct mprof_child {
  int pid;     // 0: none
  int in, out; // to write to its input, to read its output
};
// Runs path with the environment of this process. args has a few arguments
// after the program's name, up to NULL. Returns 0 or -errno. If path
// cannot be run, the output ends at once. The program ends when the helper
// does.
int mprof_child_start(struct mprof_child *c, const char *path,
                      const char *const args[]);

#endif // MPROF_RT_SYS_OS_LINUX_COLD_H
