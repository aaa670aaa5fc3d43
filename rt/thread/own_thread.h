// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's own threads, which no profile shows. They block all signals but
// libc's own, and their recursion guard is set for their whole life, so that no
// action of theirs is recorded.

#ifndef MPROF_RT_THREAD_OWN_THREAD_H
#define MPROF_RT_THREAD_OWN_THREAD_H

#include "sys/base.h"

enum mprof_own {
  MPROF_OWN_WATCH,     // stuck_watch.c
  MPROF_OWN_HTTP,      // http/server.c
  MPROF_OWN_SNAPSHOTS, // snapshot_watch.c
  MPROF_OWN_CONTROL,   // http/control_signal.c
  MPROF_OWN_PERSIST,   // persist_watch.c
  MPROF_OWN_EMULATOR,  // no thread of the runtime, but of an emulator of
                       // processors that runs the program (proc_threads.h)
  MPROF_OWNS
};
// Their thread ids; 0: the thread does not run. Written by the thread itself.
extern MPROF_HIDDEN atomic_int mprof_own_threads[MPROF_OWNS];

static inline bool mprof_is_own_thread(int tid) {
  for (int i = 0; i < MPROF_OWNS; i++)
    if (tid ==
        atomic_load_explicit(&mprof_own_threads[i], memory_order_relaxed))
      return true;
  return false;
}
// Starts a thread of the runtime with a stack of that size. `run` calls
// mprof_own_thread_begin first. Call with the recursion guard set. Returns 0 or
// -errno.
int mprof_own_thread_start(void *(*run)(void *), size_t stack_bytes);
// Returns the mask of signals that a thread of the runtime blocks: all but
// those that libc keeps for itself. libc sends one of them to each thread when
// the program calls setuid, and waits until each thread has changed its user
// id.
uint64_t mprof_own_thread_mask(void);
// Called by a thread of the runtime when it begins.
void mprof_own_thread_begin(enum mprof_own own, const char *name);
// Called by a thread of the runtime before it ends, because a new thread of the
// program may get its id.
void mprof_own_thread_end(enum mprof_own own);
// Forgets the threads in a forked child, where they do not exist.
void mprof_own_threads_reset(void);

#endif // MPROF_RT_THREAD_OWN_THREAD_H
