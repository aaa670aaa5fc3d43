// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a thread that runs may be in a call that it began before waits were
// noted. The kernel calls a thread running that has begun a system call and
// does not sleep in it yet, or does not any more; a signal would end the call.
// Two things show that it is past that:
// - It has begun a wait with a note: after that it begins none without.
// - It has used a processor for some time and not slept meanwhile. A call that
//   ends with EINTR needs microseconds to sleep, and to return when it is
//   woken; what reads or writes for longer returns what it has. (Time in which
//   a hypervisor has taken the processor away may count as used.)

#include "thread_noting.h"

#include "contention.h"
#include "os_linux.h"
#include "proc_threads.h"
#include "thread_stacks.h"
#include "threads.h"

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
  // After p was read, as p->ran_ns was before: all of it lies between sleeps.
  slot->ran_ns = mprof_sys_thread_ran_ns(slot->tid);
  slot->sleeps = p->sleeps;
  slot->tries++;
  return false;
}
