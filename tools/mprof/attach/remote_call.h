// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stops one thread of a process by ptrace, lets it call functions, and lets it
// continue as if nothing had happened. The other threads run on.
//
// Only this thread stops. During a call, it takes no signals except those of
// faults. A system call in which it has waited is restarted by the kernel, or
// by remote_end if the kernel would return EINTR.

#ifndef MPROF_TOOL_REMOTE_CALL_H
#define MPROF_TOOL_REMOTE_CALL_H

#include "attach/target.h"

struct remote {
  const struct target *target;
  pid_t tid;
  struct remote_state *state;
  bool sleeps; // the thread was in a system call
  // The thread was in a restartable sequence (rseq), which a stop must not
  // interrupt unseen.
  bool is_in_sequence;
};

// Stops the thread. Returns 0, or an errno value: ESRCH if it has ended, EPERM,
// or EAGAIN if it does not stop soon.
int remote_begin(struct remote *r, const struct target *target, pid_t tid);
// Lets the thread continue where it has stopped. Returns whether it is still
// there.
bool remote_end(struct remote *r);

enum { REMOTE_ARGUMENTS = 6 };
// Lets the thread call the function. stack: end of the memory for the calls
// stack, or 0 for the thread's own stack. Returns NULL and stores the result,
// or returns what has gone wrong; the thread then can only continue.
const char *remote_call(struct remote *r, uint64_t function,
                        const uint64_t arguments[REMOTE_ARGUMENTS],
                        uint64_t stack, uint64_t *result);

#endif
