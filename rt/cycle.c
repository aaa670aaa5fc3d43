// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See cycle.h. Where Go takes a lock for each future[i], the counters are
// atomic: an event adds, a flush takes what is there by exchange, so none is
// lost or counted twice, and an event that read the cycle just before it
// turned is accounted one cycle early, as with Go's locks.

#include "cycle.h"

#include "init.h"
#include "mprof/mprof.h"
#include "threads.h"

struct mprof_lock mprof_active_lock = MPROF_LOCK_INIT(MPROF_RANK_ACTIVE);

atomic_uint mprof_cycle;

uint32_t mprof_cycle_word(void) { return atomic_load(&mprof_cycle); }
void mprof_cycle_set_word(uint32_t word) { atomic_store(&mprof_cycle, word); }

// (Go: mProfCycleHolder.increment)
void mprof_cycle_next(void) {
  unsigned prev = atomic_load(&mprof_cycle);
  unsigned next;
  do
    next = ((prev >> 1) + 1) % MPROF_CYCLE_WRAP << 1;
  while (!atomic_compare_exchange_weak(&mprof_cycle, &prev, next));
}

// (Go: mProfCycleHolder.setFlushed)
static bool set_flushed(uint32_t *cycle) {
  unsigned prev = atomic_fetch_or(&mprof_cycle, 1);
  *cycle = prev >> 1;
  return prev & 1;
}

static void move(_Atomic uint64_t *from, _Atomic uint64_t *to) {
  // Most buckets had no event in the cycle: spare them the locked exchange.
  if (atomic_load_explicit(from, memory_order_relaxed) == 0)
    return;
  uint64_t n = atomic_exchange_explicit(from, 0, memory_order_relaxed);
  atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + n,
                        memory_order_relaxed);
}

void mprof_cycle_flush_locked(unsigned index) {
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (; b; b = b->allnext) {
    move(&b->mem.future[index].allocs, &b->mem.active.allocs);
    move(&b->mem.future[index].frees, &b->mem.active.frees);
  }
}

static void flush_index(unsigned index) {
  mprof_lock_acquire(&mprof_active_lock);
  mprof_cycle_flush_locked(index);
  mprof_lock_release(&mprof_active_lock);
}

void mprof_cycle_flush(void) {
  uint32_t cycle;
  if (!set_flushed(&cycle))
    flush_index(cycle % 3);
}

void mprof_cycle_post_sweep(void) { flush_index((mprof_cycle_read() + 1) % 3); }

MPROF_PUBLIC void mprof_next_cycle(void) { mprof_cycle_next(); }

MPROF_PUBLIC void mprof_flush(void) {
  if (!mprof_guard_enter())
    return;
  mprof_cycle_flush();
  mprof_guard_leave();
}

MPROF_PUBLIC void mprof_post_sweep(void) {
  if (!mprof_guard_enter())
    return;
  mprof_cycle_post_sweep();
  mprof_guard_leave();
}
