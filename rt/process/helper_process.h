// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A helper process that the program does not notice, and the programs that the
// helper runs. All functions bypass libc, as those of os.h do.

#ifndef MPROF_RT_PROCESS_HELPER_PROCESS_H
#define MPROF_RT_PROCESS_HELPER_PROCESS_H

#include "sys/base.h"

// A helper is a forked copy of this process that runs a function main(fd) and
// then ends. The helper blocks every signal. When the helper ends, the program
// gets no SIGCHLD, and its wait functions do not report the helper. In the
// helper, descriptors 0 to 2 are /dev/null, and all other descriptors except fd
// are closed.
struct mprof_helper {
  int pid; // 0: none
  int fd;  // the program's end of the connection to the helper
};
// Starts a helper that calls main(fd). fd is the helper's end of the connection
// to the program. keep_stderr, for debugging: the helper keeps the program's
// stderr. Returns 0 or -errno.
int mprof_helper_start(struct mprof_helper *h, void (*main)(int fd),
                       bool keep_stderr);
// These functions send or receive one whole message. Both return the length of
// the message, 0 at the end of the connection, or -errno. If the other end is
// closed, no SIGPIPE is raised. timeout_ms: how long the receiver waits for a
// message; -1: no limit. After the timeout, the receiver returns -ETIMEDOUT.
long mprof_helper_send(int fd, const void *data, size_t len);
long mprof_helper_receive(int fd, void *data, size_t len, int timeout_ms);
// Tells the helper by an empty message that there are no more, and waits for
// the end of the helper. Kills the helper if it has not ended after patience_ms
// milliseconds. Returns the exit status of the last program that the helper
// executed, MPROF_HELPER_CANNOT_RUN if the program could not be executed, 0 if
// a signal ended it, or -1 if the status is unknown.
enum { MPROF_HELPER_CANNOT_RUN = 127 };
int mprof_helper_stop(struct mprof_helper *h, int patience_ms);
// Closes the connection to the helper and kills the helper at once.
void mprof_helper_kill(struct mprof_helper *h);
// Called in a forked child, which must not use the parent's helper. Closes the
// child's copy of the connection to the helper. Otherwise the connection would
// stay open when the parent closes its own copy, and the helper would not
// notice that the parent has disconnected.
void mprof_helper_forget(struct mprof_helper *h);

// --- called in the helper ---

// Called in the helper. may = true: allows the helper to read its own files in
// /proc. But a crash of the helper then leaves a core file, too. may = false:
// forbids both.
void mprof_helper_look_at_itself(bool may);
// After this call, a helper that waits for its child gives back its copy of the
// program's memory. Otherwise each page that the program writes to would need
// more memory while the helper lives.
void mprof_helper_give_memory_back(void);
// Executes the program path in a child of the helper. fd becomes the program's
// standard input. The program's only variable is the mark of
// helper_environment.h. The program blocks every signal. args: the arguments
// after the program's name, at most 8, and then NULL. When main returns, the
// helper waits for the end of the program. If path cannot be executed, the
// connection ends.
void mprof_helper_execute(int fd, const char *path, const char *const args[]);

#endif // MPROF_RT_PROCESS_HELPER_PROCESS_H
