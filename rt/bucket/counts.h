// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counting of events in MEM buckets. Threads that share a stack write no
// common cache line.
//
// Each thread has a shard, a small number. The shard that made a bucket owns it
// and counts in the bucket's own[]. Any other shard first adds to future[] with
// atomic additions. When a counter of future[] has many events in one cycle, a
// shard that adds to it gets a cell, and counts there from then on:
//
//   owner's shard    -> own[3]      plain additions   --.
//   shard with cell  -> cell[3]     plain additions   --+-- flush --> active
//   other shards     -> future[3]   atomic additions  --'
//
// own[] and a cell have one writer at a time, so plain additions suffice. They
// only grow; taken[] remembers the part that has been published. A thread that
// ends leaves its shard, and the counts in it, to a later thread.
//
// Each counter, wherever it is, belongs to one index of the cycle machine
// (cycle.h). So a flush of an index takes exactly the events counted for it.

#ifndef MPROF_RT_BUCKET_COUNTS_H
#define MPROF_RT_BUCKET_COUNTS_H

#include "bucket/bucket.h"
#include "sys/tls.h"
#include "thread/shards.h"

// Number of additions to a counter of future[] in one cycle from which a thread
// gets a cell. A stack with few events is not worth a cell's memory.
#define MPROF_CELL_FROM 64u

// The counts of one shard for a bucket that another shard owns.
struct mprof_cell {
  _Alignas(64) struct mprof_mem_cycle cycles[3]; // a cache line
  // With the option heapx, a struct mprof_heapx_cell follows.
};

// The cells of some shards for one bucket. All threads read a line; each word
// is written once.
#define MPROF_CELLS_A_LINE 15u
struct mprof_cell_line {
  _Atomic uint32_t next; // handle of the next shards' line; 0: none yet
  _Atomic uint32_t cells[MPROF_CELLS_A_LINE]; // handles; 0: none yet
};
_Static_assert(sizeof(struct mprof_cell) == 64 &&
                   sizeof(struct mprof_cell_line) == 64,
               "one cache line each");

// Returns the bucket's cell of a shard, or NULL.
struct mprof_cell *mprof_cell_of(struct mprof_bucket *b, unsigned shard);
// Returns the cell of the first shard above *shard that has one, or NULL.
// Stores that shard's number in *shard.
struct mprof_cell *mprof_cell_after(struct mprof_bucket *b, unsigned *shard);

// Returns the owner of a bucket that the calling thread makes: the thread's
// shard, or MPROF_NO_OWNER if the thread has none or shares it with others.
#define MPROF_NO_OWNER UINT16_MAX
static inline uint16_t mprof_shard_owner(void) {
  uint16_t shard = mprof_tls.shard;
  return shard == 0 || shard > MPROF_OWN_SHARDS ? MPROF_NO_OWNER : shard;
}

// Counts an event in a bucket that is neither the calling thread's own nor the
// bucket of its cached cell.
void mprof_count_elsewhere(struct mprof_bucket *b, unsigned index,
                           bool is_free);

// Adds 1 to a counter with one writer. The release store orders the counts: a
// reader that sees the count of a free also sees the count of the block's
// allocation.
static inline void mprof_count_plain(_Atomic uint64_t *n) {
  atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                        memory_order_release);
}

// Count an event for an index of the cycle machine. Call with the guard set: a
// signal handler that interrupts a plain addition must not make another one.
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
// Counts a free from a signal handler that found the guard set.
static inline void mprof_count_free_inside(struct mprof_bucket *b,
                                           unsigned index) {
  atomic_fetch_add_explicit(&b->mem.future[index].frees, 1,
                            memory_order_release);
}

// Moves to active the events of a counter since the last flush. sum is the
// value of the owner's counter and all cells' counters since the start. Call
// with active_lock held.
static inline void mprof_count_publish(uint64_t sum, _Atomic uint64_t *taken,
                                       _Atomic uint64_t *future,
                                       _Atomic uint64_t *active) {
  uint64_t n = sum - atomic_load_explicit(taken, memory_order_relaxed);
  // Most buckets had no event in the cycle, so avoid the writes.
  if (atomic_load_explicit(future, memory_order_relaxed) != 0)
    n += atomic_exchange_explicit(future, 0, memory_order_acquire);
  if (n == 0)
    return;
  atomic_store_explicit(taken, sum, memory_order_relaxed);
  atomic_store_explicit(active,
                        atomic_load_explicit(active, memory_order_relaxed) + n,
                        memory_order_relaxed);
}

// Moves the events of b that were counted for an index to active. Call with
// active_lock held.
void mprof_counts_publish_locked(struct mprof_bucket *b, unsigned index);

#endif // MPROF_RT_BUCKET_COUNTS_H
