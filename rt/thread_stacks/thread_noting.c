// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether a running thread may be in a system call of a wait that it
// has not noted (stored in its record; see thread_wait.h). The runtime must not
// send a signal to this thread, because the call would fail with EINTR. The
// kernel may report the thread as running although the thread is in the call:
// the thread may not sleep yet, or may just have been woken. One of these two
// facts proves that a thread is no longer in an unnoted wait:
// - The thread has begun a noted wait. From then on, it notes all its waits.
// - The thread has used a processor for PROOF_NS and has not slept meanwhile. A
//   call that can fail with EINTR goes to sleep within microseconds, and
//   returns within microseconds after it is woken. A read or write that runs
//   for longer does not fail with EINTR: it returns the number of bytes that it
//   has transferred. (Time in which a hypervisor has taken the processor away
//   may count as used.)

#include "thread_stacks/thread_noting.h"

#include "lock_wait/contention.h"
#include "sys/os_linux.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_slots.h"

enum { PROOF_NS = 2000000 };

void mprof_thread_is_noting(struct mprof_thread *t) {
  atomic_store_explicit(&t->is_noting, true, memory_order_release);
}

bool mprof_is_past_unnoted(struct mprof_thread_slot *slot,
                           const struct mprof_proc_thread *p) {
  const struct mprof_thread *t = slot->thread;
  if (mprof_contention.notes_from_start ||
      (t && atomic_load_explicit(&t->is_noting, memory_order_acquire)))
    return true;
  if (slot->ran_ns != 0 && slot->sleeps == p->sleeps)
    return p->ran_ns - slot->ran_ns >= PROOF_NS;
  // This is the first observation. Here slot->ran_ns is read after p->sleeps.
  // In a later observation, p->ran_ns is read before p->sleeps. So if both
  // observations have the same number of sleeps, the thread has not slept
  // between the two reads of ran_ns.
  slot->ran_ns = mprof_sys_thread_ran_ns(slot->tid);
  slot->sleeps = p->sleeps;
  slot->tries++;
  return false;
}
