// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the events of a MEM bucket are counted, so that threads that share a
// stack write no cache line in common.
//
// Each thread has a shard, a small number. The thread that made a bucket counts
// in the bucket's own[]; another one first in future[], by atomic additions,
// and once a cycle has many of those in a cell of its own. Own counters and
// cells have one writer at a time, so they are plain additions; they only ever
// grow, and taken[] remembers how much of them was published. A thread that
// ends leaves its shard, with what was counted in it, to the next.
//
// Every count is for one index of the cycle machine, wherever it is kept, so
// that a flush of an index takes exactly what was accounted to it.

#ifndef MPROF_RT_BUCKET_COUNTS_H
#define MPROF_RT_BUCKET_COUNTS_H

#include "bucket/bucket.h"
#include "sys/tls.h"
#include "thread/shards.h"

// Additions to a counter of future[] in one cycle from which on a thread gets a
// cell: what has few events is not worth its memory.
#define MPROF_CELL_FROM 64u

// A shard's counts of a bucket that another shard owns.
struct mprof_cell {
  _Alignas(64) struct mprof_mem_cycle cycles[3]; // a cache line
  // With the option heapx a struct mprof_heapx_cell follows.
};

// A bucket's cells of some shards: read by all, written once each.
#define MPROF_CELLS_A_LINE 15u
struct mprof_cell_line {
  _Atomic uint32_t next; // handle, of the shards after these
  _Atomic uint32_t cells[MPROF_CELLS_A_LINE]; // the same; 0: none yet
};
_Static_assert(sizeof(struct mprof_cell) == 64 &&
                   sizeof(struct mprof_cell_line) == 64,
               "one cache line each");

// A bucket's cell of a shard, or NULL.
struct mprof_cell *mprof_cell_of(struct mprof_bucket *b, unsigned shard);
// That of the first shard above *shard that has one, or NULL. Sets *shard.
struct mprof_cell *mprof_cell_after(struct mprof_bucket *b, unsigned *shard);

// What a new bucket has as its owner: the calling thread's shard, or a number
// that is none's.
#define MPROF_NO_OWNER UINT16_MAX
static inline uint16_t mprof_shard_owner(void) {
  uint16_t shard = mprof_tls.shard;
  return shard == 0 || shard > MPROF_OWN_SHARDS ? MPROF_NO_OWNER : shard;
}

void mprof_count_elsewhere(struct mprof_bucket *b, unsigned index,
                           bool is_free);

// Of one writer. Released, so that who reads the count of a free reads that of
// the block's allocation too.
static inline void mprof_count_plain(_Atomic uint64_t *n) {
  atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                        memory_order_release);
}

// Count an event for a cycle's index. Call with the guard set: a handler that
// interrupts a plain addition must not make one.
static inline void mprof_count_alloc(struct mprof_bucket *b, unsigned index) {
  if (mprof_likely(b->owner == mprof_tls.shard))
    mprof_count_plain(&b->mem.own[index].allocs);
  else if (mprof_likely(b == mprof_tls.cell_bucket))
    mprof_count_plain(&mprof_tls.cell_cycles[index].allocs);
  else
    mprof_count_elsewhere(b, index, false);
}
static inline void mprof_count_free(struct mprof_bucket *b, unsigned index) {
  if (mprof_likely(b->owner == mprof_tls.shard))
    mprof_count_plain(&b->mem.own[index].frees);
  else if (mprof_likely(b == mprof_tls.cell_bucket))
    mprof_count_plain(&mprof_tls.cell_cycles[index].frees);
  else
    mprof_count_elsewhere(b, index, true);
}
// From a handler that found the guard set.
static inline void mprof_count_free_inside(struct mprof_bucket *b,
                                           unsigned index) {
  atomic_fetch_add_explicit(&b->mem.future[index].frees, 1,
                            memory_order_release);
}

// Moves to active what a counter has got since the last flush. sum: what its
// owner's and the cells' counters hold, of all time. Call with active_lock
// held.
static inline void mprof_count_publish(uint64_t sum, _Atomic uint64_t *taken,
                                       _Atomic uint64_t *future,
                                       _Atomic uint64_t *active) {
  uint64_t n = sum - atomic_load_explicit(taken, memory_order_relaxed);
  // Most buckets had no event in the cycle: spare them the writes.
  if (atomic_load_explicit(future, memory_order_relaxed) != 0)
    n += atomic_exchange_explicit(future, 0, memory_order_acquire);
  if (n == 0)
    return;
  atomic_store_explicit(taken, sum, memory_order_relaxed);
  atomic_store_explicit(active,
                        atomic_load_explicit(active, memory_order_relaxed) + n,
                        memory_order_relaxed);
}

// Moves what was counted for an index to active. Call with active_lock held.
void mprof_counts_publish_locked(struct mprof_bucket *b, unsigned index);

#endif // MPROF_RT_BUCKET_COUNTS_H
