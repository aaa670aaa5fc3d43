// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts events in MEM buckets, which are the buckets of the heap profile.
// Threads with the same stack add to different cache lines, so that the threads
// do not slow down each other.
//
// Each thread has a shard, which is a small number. A bucket belongs to the
// shard of the thread that made the bucket. This owner counts its events in the
// cell `own`, which is a part of the bucket. Other shards first count in
// future[], by atomic additions. After some events, a shard gets a cell, too
// (MPROF_CELL_FROM). From then on, the shard counts its events of this bucket
// in its cell:
//
//   owner's shard    -> own         plain additions   --.
//   shard with cell  -> its cell    plain additions   --+-- flush --> active
//   other shards     -> future[3]   atomic additions  --'
//
// The live map has the handle of the cell that has counted a block, or of own
// if the block was counted in future[]. If the same shard frees the block, it
// finds its cell there. If another shard frees it, the cell leads to the
// bucket, and so to the cell of that shard.
//
// Plain additions suffice for own and for most cells, because only one thread
// at a time adds to them. There is one exception: several threads share each
// shard above MPROF_OWN_SHARDS, and add to the shard's cells by atomic
// additions. When a thread ends, its shard is given to a new thread, which
// continues the counts.
//
// A flush publishes counts: it adds the events since the previous flush to
// `active`, which profiles show. future[] and cells never decrease, so
// taken[] records how many of their events are already published. Their sum is
// right at each moment, also if the process is killed during a flush. So a file
// with the counters (persist_head.h) needs no other care.
//
// The arrays have one element for each index of the cycle machine (cycle.h), so
// that a flush can publish the events of one index only.

#ifndef MPROF_RT_BUCKET_COUNTS_H
#define MPROF_RT_BUCKET_COUNTS_H

#include "bucket/bucket.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "thread/shards.h"

// When a counter of a bucket's array future[] reaches a multiple of this
// number, the shard that has counted the last event gets a cell. So a cell's
// memory is small beside the number of events, also if many shards share a
// bucket.
#define MPROF_CELL_FROM 8u

// A node of the list of a bucket's cells. Each node has the handles of the
// cells of MPROF_CELLS_A_LINE shards. All threads read the nodes. Each field is
// 0 at first and is set only once.
#define MPROF_CELLS_A_LINE 15u
struct mprof_cell_line {
  _Atomic uint32_t next; // handle of the node with the next shards; 0: none
  _Atomic uint32_t cells[MPROF_CELLS_A_LINE]; // cell handles; 0: no cell
};
_Static_assert(sizeof(struct mprof_cell_line) == 64, "one cache line");

// Returns the cell in b of a shard that does not own b, or NULL if the shard
// has no cell in b.
struct mprof_cell *mprof_cell_of(struct mprof_bucket *b, unsigned shard);
// Returns the cell in b of the first shard above *shard that has such a cell,
// and stores this shard's number in *shard. Returns NULL if no shard above
// *shard has a cell. Leaves out the cell `own`.
struct mprof_cell *mprof_cell_after(struct mprof_bucket *b, unsigned *shard);
// Returns the cell of the calling thread's shard in b, or NULL if the shard has
// no cell in b.
static inline struct mprof_cell *mprof_cell_mine(struct mprof_bucket *b) {
  const unsigned shard = mprof_tls.shard;
  if (mprof_likely(b->owner == shard))
    return &b->mem.own;
  return shard ? mprof_cell_of(b, shard) : NULL;
}
// Returns the same, but the cell of b's owner instead of NULL. An event that is
// passed to this cell is counted in future[].
static inline struct mprof_cell *mprof_cell_here(struct mprof_bucket *b) {
  struct mprof_cell *c = mprof_cell_mine(b);
  return c ? c : &b->mem.own;
}
// Sets the fields of a new cell, which is all 0. shard: see struct mprof_cell.
static inline void mprof_cell_init(struct mprof_cell *c,
                                   const struct mprof_bucket *b,
                                   uint16_t shard) {
  c->bucket = mprof_persistent_handle(b);
  c->shard = shard;
}
// Returns the bucket to which a cell belongs.
static inline struct mprof_bucket *
mprof_cell_bucket(const struct mprof_cell *c) {
  return mprof_persistent_known(c->bucket);
}

// Returns the bucket of the cell with this handle, or NULL for the handle 0.
struct mprof_bucket *mprof_cell_handle_bucket(uint32_t handle);

// Returns the value for the field `owner` of a bucket that the calling thread
// makes. This is the thread's shard, or MPROF_NO_OWNER if the thread has no
// shard or shares its shard with other threads.
static inline uint16_t mprof_shard_owner(void) {
  uint16_t shard = mprof_tls.shard;
  return shard == 0 || shard > MPROF_OWN_SHARDS ? MPROF_NO_OWNER : shard;
}

// Counts an allocation or a free in the bucket of c in the slow case: c is not
// the cell of the calling thread's shard, or the shard has several threads.
void mprof_count_elsewhere(struct mprof_cell *c, unsigned index, bool is_free);

// Adds 1 to a counter that only one thread writes. The store has release order,
// so that a thread that reads the count of a free also reads the count of the
// block's allocation.
static inline void mprof_count_plain(_Atomic uint64_t *n) {
  atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                        memory_order_release);
}

// Count an allocation or a free in the bucket of c. c should be the cell of the
// calling thread's shard, which is the fast case. `index` is an index of the
// cycle machine (cycle.h) and selects the counter. Call these functions with
// the recursion guard set. Otherwise a signal handler that interrupts a plain
// addition could add to the same counter, and the handler's addition would be
// lost.
static inline void mprof_count_alloc(struct mprof_cell *c, unsigned index) {
  if (mprof_likely(c->shard == mprof_tls.shard))
    mprof_count_plain(&c->cycles[index].allocs);
  else
    mprof_count_elsewhere(c, index, false);
}
static inline void mprof_count_free(struct mprof_cell *c, unsigned index) {
  if (mprof_likely(c->shard == mprof_tls.shard))
    mprof_count_plain(&c->cycles[index].frees);
  else
    mprof_count_elsewhere(c, index, true);
}
// Counts a free in a signal handler that has interrupted the runtime. The
// interrupted code may be adding to a cell without an atomic operation. So this
// function adds to future[], where all additions are atomic.
static inline void mprof_count_free_inside(const struct mprof_cell *c,
                                           unsigned index) {
  atomic_fetch_add_explicit(&mprof_cell_bucket(c)->mem.future[index].frees, 1,
                            memory_order_release);
}

// Publishes one counter of a bucket: adds to *active the events that were
// counted since the last flush. Call with active_lock held.
// sum: number of events that future and all cells have counted since the start.
// taken: *taken is the value of sum at the last flush; it is updated.
static inline void mprof_count_publish(uint64_t sum, _Atomic uint64_t *taken,
                                       _Atomic uint64_t *active) {
  uint64_t n = sum - atomic_load_explicit(taken, memory_order_relaxed);
  // Most buckets had no event since the last flush. The test avoids a write to
  // their cache lines.
  if (n == 0)
    return;
  atomic_store_explicit(taken, sum, memory_order_relaxed);
  atomic_store_explicit(active,
                        atomic_load_explicit(active, memory_order_relaxed) + n,
                        memory_order_relaxed);
}

// Adds to b's active counters the events that were counted for `index` since
// the last flush. Call with active_lock held.
void mprof_counts_publish_locked(struct mprof_bucket *b, unsigned index);

#endif // MPROF_RT_BUCKET_COUNTS_H
