// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's own lock: a word and a futex. The program's pthread_mutex
// would not do, since its calls are what later profiles hook.

#include "base.h"

enum { FREE, HELD, WAITED_FOR };

#ifndef NDEBUG
// Bit r: this thread holds a lock of rank r.
static _Thread_local unsigned held;

static void note_acquire(const struct mprof_lock *l) {
  if (held >> l->rank)
    __builtin_trap(); // a lock of this rank or a higher one is held
  held |= 1u << l->rank;
}

static void note_release(const struct mprof_lock *l) {
  held &= ~(1u << l->rank);
}

static void note_reset(void) { held = 0; }
#else
static void note_acquire(const struct mprof_lock *l) { (void)l; }
static void note_release(const struct mprof_lock *l) { (void)l; }
static void note_reset(void) {}
#endif

void mprof_lock_acquire(struct mprof_lock *l) {
  note_acquire(l);
  unsigned free = FREE;
  if (atomic_compare_exchange_strong_explicit(
          &l->word, &free, HELD, memory_order_acquire, memory_order_relaxed))
    return;
  while (atomic_exchange_explicit(&l->word, WAITED_FOR, memory_order_acquire) !=
         FREE)
    mprof_sys_futex_wait(&l->word, WAITED_FOR);
}

void mprof_lock_release(struct mprof_lock *l) {
  note_release(l);
  if (atomic_exchange_explicit(&l->word, FREE, memory_order_release) ==
      WAITED_FOR)
    mprof_sys_futex_wake(&l->word);
}

void mprof_lock_reset(struct mprof_lock *l) {
  note_reset();
  atomic_store_explicit(&l->word, FREE, memory_order_relaxed);
}
