// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether a running thread may be in a system call that it began before
// waits were noted. Such a thread must not be asked: the signal would end the
// call. The kernel also reports a thread as running that has begun a call and
// does not sleep in it yet, or no longer sleeps. Two facts show that a thread
// is past such a call:
// - The thread has begun a wait with a note. After that it begins none without.
// - The thread has used a processor for some time and has not slept meanwhile.
//   A call that ends with EINTR sleeps within microseconds, and returns within
//   microseconds when it is woken. A read or write that takes longer returns
//   what it has transferred. (Time in which a hypervisor has taken the
//   processor away may count as used.)

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
  // This first ran_ns is read after the count of sleeps; a later one is read
  // before its count. If the counts are equal, the thread has not slept between
  // the two values of ran_ns.
  slot->ran_ns = mprof_sys_thread_ran_ns(slot->tid);
  slot->sleeps = p->sleeps;
  slot->tries++;
  return false;
}
