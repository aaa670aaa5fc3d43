// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See known_threads.h.

#include "thread_stacks/known_threads.h"

#include "sys/os_linux.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_collect.h"
#include "thread_stacks/thread_slots.h"

// For fewer threads, the kernel's list is read. So a kernel whose directory
// /proc/self/task always has the same small number of links does no harm.
enum { MANY = 32 };

bool mprof_known_seem_all(void) {
  const size_t registered = mprof_threads_number();
  return registered >= MANY && mprof_proc_thread_count() == registered;
}

struct mprof_own_tids mprof_known_own(void) {
  struct mprof_own_tids own;
  for (int i = 0; i < MPROF_OWNS; i++)
    own.v[i] = atomic_load(&mprof_own_threads[i]);
  return own;
}

// Returns how many of the runtime's own threads exist and have no slot.
static size_t count_own(const struct mprof_thread_stacks *s,
                        const struct mprof_own_tids *own) {
  size_t n = 0;
  for (int i = 0; i < MPROF_OWNS; i++) {
    const int tid = own->v[i];
    bool is_new = tid != 0 && !mprof_slot_of(s, tid);
    for (int k = 0; k < i; k++)
      is_new &= own->v[k] != tid;
    n += is_new && mprof_sys_thread_alive(tid);
  }
  return n;
}

bool mprof_known_are_all(const struct mprof_thread_stacks *s,
                         const struct mprof_own_tids *own, uint64_t threads) {
  return s->slots_len + count_own(s, own) == threads;
}

// Returns whether thread `slot`, which no longer exists, has ended without
// leaving the registry.
static bool ended_unnoticed(const struct mprof_reader *r,
                            const struct mprof_thread_slot *slot) {
  mprof_reader_lock_registry(r);
  const struct mprof_thread *t = slot->thread;
  const bool is_unnoticed = mprof_is_own_record(r, slot) && t->countdown;
  mprof_reader_unlock_registry(r);
  return is_unnoticed;
}

bool mprof_known_are_doubtful(const struct mprof_reader *r) {
  const int pid = mprof_sys_getpid();
  bool is_doubtful = false;
  for (size_t i = 0; i < r->s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(r->s, i);
    // A thread that has run the signal handler existed.
    if (slot->sees_exit && !atomic_load(&slot->context) &&
        !mprof_sys_thread_of(pid, slot->tid) && ended_unnoticed(r, slot))
      is_doubtful = slot->is_gone = true;
  }
  return is_doubtful;
}
