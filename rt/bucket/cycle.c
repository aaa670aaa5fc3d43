// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cycle machine, which decides when events become visible in the heap
// profile. See cycle.h. (Go: mProfCycleHolder, mProf_Flush, mProf_PostSweep)
//
// Go takes a lock for each future[i]. MProf needs no such locks, because a
// flush of MProf's counters (counts.h) publishes each event exactly once, even
// if other threads count events during the flush. If a thread reads the cycle
// number just before the cycle ends, the thread's event is counted one cycle
// early. Go has the same inaccuracy.

#include "bucket/cycle.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "options/flags.h"
#include "sys/assert.h"
#include "sys/lock.h"
#include "sys/tls.h"

struct mprof_lock mprof_active_lock = MPROF_LOCK_INIT(MPROF_RANK_ACTIVE);

struct mprof_cycle mprof_cycle;
static atomic_int cycle_owner; // enum mprof_cycle_owner; never decreases

uint32_t mprof_cycle_word(void) { return atomic_load(&mprof_cycle.word); }
void mprof_cycle_set_word(uint32_t word) {
  MPROF_ASSERT(word >> 1 < MPROF_CYCLE_WRAP);
  atomic_store(&mprof_cycle.word, word);
}

// (Go: mProfCycleHolder.increment)
void mprof_cycle_next(void) {
  unsigned prev = atomic_load(&mprof_cycle.word);
  unsigned next;
  do
    next = ((prev >> 1) + 1) % MPROF_CYCLE_WRAP << 1;
  while (!atomic_compare_exchange_weak(&mprof_cycle.word, &prev, next));
}

// Sets the flag `flushed` of the current cycle, and stores the cycle's number
// in *cycle. Returns whether the flag was already set. (Go:
// mProfCycleHolder.setFlushed)
static bool set_flushed(uint32_t *cycle) {
  unsigned prev = atomic_fetch_or(&mprof_cycle.word, 1);
  *cycle = prev >> 1;
  return prev & 1;
}

void mprof_cycle_flush_locked(unsigned index) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_ACTIVE));
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (; b; b = b->allnext)
    mprof_counts_publish_locked(b, index);
}

void mprof_cycle_publish_all_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_ACTIVE));
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (; b; b = b->allnext)
    for (unsigned i = 0; i < 3; i++)
      mprof_counts_publish_locked(b, i);
}

static void flush_index(unsigned index) {
  mprof_lock_acquire(&mprof_active_lock);
  mprof_cycle_flush_locked(index);
  mprof_lock_release(&mprof_active_lock);
}

void mprof_cycles_flush(void) {
  uint32_t cycle;
  if (!set_flushed(&cycle))
    flush_index(cycle % 3);
}

void mprof_cycles_post_sweep(void) {
  flush_index((mprof_cycle_read() + 1) % 3);
}

void mprof_cycle_publish(void) {
  uint32_t cycle;
  set_flushed(&cycle);
  mprof_lock_acquire(&mprof_active_lock);
  // Publishes the counters of two indices in one walk over the buckets, because
  // a program may call this function thousands of times per second.
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (; b; b = b->allnext)
    for (unsigned i = cycle; i <= cycle + 1; i++)
      mprof_counts_publish_locked(b, i % 3);
  mprof_lock_release(&mprof_active_lock);
}

void mprof_cycle_claim(enum mprof_cycle_owner owner) {
  int seen = atomic_load_explicit(&cycle_owner, memory_order_relaxed);
  while (seen < (int)owner &&
         !atomic_compare_exchange_weak(&cycle_owner, &seen, owner))
    ;
}

bool mprof_cycle_dump_ends_it(bool is_exit) {
  int owner = atomic_load_explicit(&cycle_owner, memory_order_relaxed);
  return !mprof_flags.strict_cycles && owner != MPROF_CYCLE_COLLECTOR &&
         (is_exit || owner == MPROF_CYCLE_NOBODY);
}

enum mprof_cycle_owner mprof_cycle_as_of(void) {
  return mprof_cycle_dump_ends_it(true)
             ? MPROF_CYCLE_NOBODY
             : atomic_load_explicit(&cycle_owner, memory_order_relaxed);
}

bool mprof_cycle_is_missing(void) {
  return mprof_flags.strict_cycles &&
         atomic_load_explicit(&cycle_owner, memory_order_relaxed) ==
             MPROF_CYCLE_NOBODY;
}

void mprof_cycle_reset(void) {
  mprof_lock_reset(&mprof_active_lock);
  mprof_cycle_set_word(0);
  atomic_store(&cycle_owner, MPROF_CYCLE_NOBODY);
}

// Ends the cycle and publishes its events. If the caller is a signal handler
// that has interrupted the profiler, the guard is set, and this call publishes
// nothing. The next call then publishes these events, because
// mprof_cycle_publish publishes the events of the last two cycles. Because of
// such a delay, even a program without a collector needs three sets of
// counters: two for the ended cycles and one for the current cycle.
MPROF_PUBLIC void mprof_next_cycle(void) {
  mprof_cycle_claim(MPROF_CYCLE_PROGRAM);
  mprof_cycle_next();
  if (!mprof_guard_enter())
    return;
  mprof_cycle_publish();
  mprof_guard_leave();
}

MPROF_PUBLIC void mprof_cycle_flush(void) {
  if (!mprof_guard_enter())
    return;
  mprof_cycles_flush();
  mprof_guard_leave();
}

MPROF_PUBLIC void mprof_cycle_post_sweep(void) {
  if (!mprof_guard_enter())
    return;
  mprof_cycles_post_sweep();
  mprof_guard_leave();
}
