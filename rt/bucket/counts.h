// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts events in MEM buckets, in a way that threads with the same stack do
// not write the same cache line.
//
// Each thread has a shard, a small number. The shard whose thread made a bucket
// owns the bucket, and counts in its array own[]. Any other shard first counts
// in future[], by atomic additions. When a counter of future[] has many events
// in one cycle, each shard that adds to this counter gets a cell, and counts in
// the cell from then on:
//
//   owner's shard    -> own[3]      plain additions   --.
//   shard with cell  -> cell[3]     plain additions   --+-- flush --> active
//   other shards     -> future[3]   atomic additions  --'
//
// Only one thread at a time writes own[], and only one thread writes a cell. So
// plain additions suffice. (Shards above MPROF_OWN_SHARDS are shared by several
// threads, which add to a cell by atomic additions.) These counters only grow;
// taken[] records the part that has been published. When a thread ends, a later
// thread gets its shard and continues the counts.
//
// Each of these arrays has one element for each index of the cycle machine
// (cycle.h). So a flush of an index publishes exactly the events of this index.

#ifndef MPROF_RT_BUCKET_COUNTS_H
#define MPROF_RT_BUCKET_COUNTS_H

#include "bucket/bucket.h"
#include "sys/tls.h"
#include "thread/shards.h"

// Number of additions to a counter of future[] in one cycle that must happen
// before a thread gets a cell. With fewer events, a cell is not worth its
// memory.
#define MPROF_CELL_FROM 64u

// The counts of one shard for a bucket that another shard owns.
struct mprof_cell {
  _Alignas(64) struct mprof_mem_cycle cycles[3]; // a cache line
  // With the option heapx, a struct mprof_heapx_cell follows.
};

// A list of the cells of MPROF_CELLS_A_LINE shards for one bucket. All threads
// read the list; each word is written once.
#define MPROF_CELLS_A_LINE 15u
struct mprof_cell_line {
  _Atomic uint32_t next; // handle of the line for the next shards; 0: none yet
  _Atomic uint32_t cells[MPROF_CELLS_A_LINE]; // handles; 0: no cell yet
};
_Static_assert(sizeof(struct mprof_cell) == 64 &&
                   sizeof(struct mprof_cell_line) == 64,
               "one cache line each");

// Returns the cell of a shard in b, or NULL if the shard has none.
struct mprof_cell *mprof_cell_of(struct mprof_bucket *b, unsigned shard);
// Returns the cell in b of the first shard above *shard that has a cell, and
// stores this shard's number in *shard. Returns NULL if there is no such shard.
struct mprof_cell *mprof_cell_after(struct mprof_bucket *b, unsigned *shard);

// Returns the owner to store in a bucket that the calling thread makes: the
// thread's shard, or MPROF_NO_OWNER if the thread has no shard or shares its
// shard with other threads.
#define MPROF_NO_OWNER UINT16_MAX
static inline uint16_t mprof_shard_owner(void) {
  uint16_t shard = mprof_tls.shard;
  return shard == 0 || shard > MPROF_OWN_SHARDS ? MPROF_NO_OWNER : shard;
}

// Counts an event in a bucket that the calling thread's shard does not own, and
// that is not mprof_tls.cell_bucket, the bucket of the thread's cached cell.
void mprof_count_elsewhere(struct mprof_bucket *b, unsigned index,
                           bool is_free);

// Adds 1 to a counter that only one thread writes. The store has release order,
// so that a reader that sees the count of a free also sees the count of the
// block's allocation.
static inline void mprof_count_plain(_Atomic uint64_t *n) {
  atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                        memory_order_release);
}

// Count an allocation or a free for an index of the cycle machine. Call with
// the guard set, so that a signal handler that interrupts a plain addition does
// not start another plain addition to the counter.
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
// Counts a free in a signal handler that found the guard set. Such a handler
// may have interrupted a plain addition, so this function uses future[].
static inline void mprof_count_free_inside(struct mprof_bucket *b,
                                           unsigned index) {
  atomic_fetch_add_explicit(&b->mem.future[index].frees, 1,
                            memory_order_release);
}

// Adds to *active the events that were counted since the last flush, and
// empties *future. sum: events that own and all cells have counted since the
// start. *taken: value of sum at the last flush; updated. Call with active_lock
// held.
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

// Adds to active the events of b that were counted for index since the last
// flush. Call with active_lock held.
void mprof_counts_publish_locked(struct mprof_bucket *b, unsigned index);

#endif // MPROF_RT_BUCKET_COUNTS_H
