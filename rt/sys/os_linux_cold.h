// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls that only writers need: the kind of a file, and a helper
// process that the program does not notice.

#ifndef MPROF_RT_SYS_OS_LINUX_COLD_H
#define MPROF_RT_SYS_OS_LINUX_COLD_H

#include "sys/base.h"

// Whether path names something that is neither a regular file nor a directory,
// which a rename would destroy (/dev/null).
bool mprof_os_is_special(const char *path);
// Whether path names a regular file.
bool mprof_os_is_file(const char *path);
// Whether fd is open for a regular file.
bool mprof_os_is_regular(int fd);
// Whether path is a regular file that this process may execute.
bool mprof_os_is_executable(const char *path);

long mprof_sys_pread(int fd, void *buf, size_t len, uint64_t offset);
// For each page of a mapping, whether it is in memory. 0 or -errno.
long mprof_sys_mincore(uintptr_t start, size_t len, unsigned char *pages);
// Copies what nobody has read of a pipe yet, and leaves it there; path: of a
// descriptor that reads it, in /proc. Returns how much, or -errno: -ENOBUFS if
// the user may not have another pipe that is large enough.
long mprof_os_peek_pipe(const char *path, char *buf, size_t len);
// Changes what may be done with the pages of a mapping. 0 or -errno.
long mprof_sys_mprotect(uintptr_t start, size_t len, int protection);
// In a helper: lets it look at itself in /proc, though with a core file then.
void mprof_helper_look_at_itself(bool may);

// A copy of this process in which main runs with one descriptor and then ends.
// It blocks every signal, its end raises none, the program's wait functions do
// not see it, its standard descriptors are /dev/null, and all others but its
// own are closed.
struct mprof_helper {
  int pid; // 0: none
  int fd;  // the other end of the helper's descriptor
};
// 0 or an errno value. keep_stderr: for debugging.
int mprof_helper_start(struct mprof_helper *h, void (*main)(int fd),
                       bool keep_stderr);
// Sends or receives one message, whole; without a signal when the other end is
// gone. timeout_ms: how long a receiver waits, -1 for ever. Returns the length,
// 0 at the end, or -errno, -ETIMEDOUT too.
long mprof_helper_send(int fd, const void *data, size_t len);
long mprof_helper_receive(int fd, void *data, size_t len, int timeout_ms);
// Closes the connection and waits for the helper's end, which is forced after
// a second.
void mprof_helper_stop(struct mprof_helper *h);
// The same, but forced at once.
void mprof_helper_kill(struct mprof_helper *h);
// In a forked child: leaves the helper to the parent, which sees it end only
// when nobody else holds the connection.
void mprof_helper_forget(struct mprof_helper *h);

// --- in the helper ---

// A program with pipes for its standard input and output.
struct mprof_child {
  int pid;     // 0: none
  int in, out; // written to it, read from it
};
// args: those after the program's name, up to NULL; a few. Runs path with the
// environment of this process. 0 or an errno value; a path that cannot be run
// is one whose output ends at once. It ends when the helper does.
int mprof_child_start(struct mprof_child *c, const char *path,
                      const char *const args[]);

#endif // MPROF_RT_SYS_OS_LINUX_COLD_H
