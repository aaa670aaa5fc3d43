// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counters of MEM buckets, which are the buckets of the heap profile.
// Threads with the same stack add to different cache lines, so that the threads
// do not slow down each other.
//
// Each thread has a shard, which is a small number. A bucket belongs to the
// shard of the thread that made the bucket. This owner counts its events in the
// cell `own`, which is a part of the bucket. Other shards first count in
// shared[], by atomic additions. After some events, a shard gets a cell, too
// (MPROF_CELL_FROM). From then on, the shard counts its events of this bucket
// in its cell:
//
//   owner's shard    -> own         plain additions   --.
//   shard with cell  -> its cell    plain additions   --+-- flush --> active
//   other shards     -> shared[3]   atomic additions  --'
//
// The live map has the handle of the cell that has counted a block, or of own
// if the block was counted in shared[]. If the same shard frees the block, it
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
// `active`, which profiles show. shared[] and cells never decrease, so taken[]
// records how many of their events are already published. Their sum is right at
// each moment, also if the process is killed during a flush. So a file with the
// counters (persistent.h) needs no other care.
//
// The arrays have one element for each index of the cycle machine, which
// decides when events become visible. So a flush can publish the events of one
// index only.

#ifndef MPROF_RT_BUCKET_COUNTS_H
#define MPROF_RT_BUCKET_COUNTS_H

#include "bucket/bucket.h"
#include "sys/base.h"
#include "sys/lock.h"
#include "sys/persistent.h"
#include "sys/tls.h"

// When a counter of a bucket's array shared[] reaches a multiple of this
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
// passed to this cell is counted in shared[].
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
// cycle machine and selects the counter. Call these functions with the
// recursion guard set. Otherwise a signal handler that interrupts a plain
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
// function adds to shared[], where all additions are atomic.
static inline void mprof_count_free_inside(const struct mprof_cell *c,
                                           unsigned index) {
  atomic_fetch_add_explicit(&mprof_cell_bucket(c)->mem.shared[index].frees, 1,
                            memory_order_release);
}

// Publishes one counter of a bucket: adds to *active the events that were
// counted since the last flush. Call with active_lock held.
// sum: number of events that shared and all cells have counted since the start.
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

// --- the cycle machine ---
//
// The cycle machine makes a heap profile consistent. Time is divided into
// cycles. Each event is counted in one of three sets of counters, which have
// the indices 0, 1 and 2. To publish an index means to add its counters to the
// active counters, which profiles show. An index is published only after its
// cycle has ended. So a profile shows the heap at the end of a cycle. For
// example, if the program ends a cycle after each request, no profile shows
// half a request. (Go: mProfCycleHolder, mProf_NextCycle, mProf_Flush,
// mProf_PostSweep)

// Number of cycles before the cycle number wraps around; a multiple of 3, the
// number of indices. (Go: mProfCycleWrap)
#define MPROF_CYCLE_WRAP (3u * (2u << 24))

// `word` is C << 1 | flushed. C is the number of the current cycle. flushed is
// 1 if index C % 3 of all buckets was published in this cycle. (Go: mProfCycle)
//
// In cycle C, malloc and free are counted in index C+2 (modulo 3). The frees
// that a garbage collector makes in cycle C are counted in index C+1 (modulo
// 3). In the diagram, each row is an index (modulo 3), and each "|" is a call
// of mprof_cycle_advance:
//
//   cycle    C             C+1            C+2            C+3
//      |--------------|--------------|--------------|--------------|--> time
//  C+2   malloc, free   sweep's frees  published
//  C+3                  malloc, free   sweep's frees  published
//  C+4                                 malloc, free   sweep's frees
//
// A collector's sweep in cycle C+1 frees the objects that died in cycle C.
// Index C+2 therefore gets the allocations of cycle C and the frees of the
// objects that died in cycle C. Otherwise, a profile would show dead objects as
// live only because the collector has not swept yet.
//
// At the end of the sweep, mprof_cycle_publish_swept publishes index C+2. A
// program without a collector has counted all frees of cycle C when cycle C
// ends. For such a program, mprof_cycle_publish publishes index C+2 already at
// the start of cycle C+1.
extern MPROF_HIDDEN struct mprof_cycle {
  // Every event reads the word. Data that is written often must not be in the
  // same cache line, because each write would slow down the readers of the
  // word.
  _Alignas(64) atomic_uint word;
} mprof_cycle;

static inline uint32_t mprof_cycle_read(void) {
  return atomic_load_explicit(&mprof_cycle.word, memory_order_relaxed) >> 1;
}
// Returns the index in which malloc and free are counted in the current cycle
// C: (C+2) % 3.
static inline unsigned mprof_cycle_explicit_index(void) {
  return (mprof_cycle_read() + 2) % 3;
}
// For tests: set and get the field `word`, which is cycle << 1 | flushed.
void mprof_cycle_set_word(uint32_t word);
uint32_t mprof_cycle_word(void);

// Ends the current cycle: adds 1 to the cycle number C, without a lock. Signal
// handlers may call this function.
void mprof_cycle_advance(void);
// Publishes index C % 3, unless the index was already published in the current
// cycle C. Takes active_lock. Call with the recursion guard set.
void mprof_cycle_publish_due(void);
// Publishes index (C+1) % 3. Call this at the end of a collector's sweep, with
// the recursion guard set. Takes active_lock.
void mprof_cycle_publish_swept(void);
// Publishes the indices C % 3 and (C+1) % 3, where C is the current cycle. They
// have the events of the two cycles before C, because events of cycle N are
// counted in index (N+2) % 3. Use this in programs without a garbage collector,
// because these programs have already counted all frees of the last cycle.
// Takes active_lock. Call with the recursion guard set.
void mprof_cycle_publish(void);
// Publishes one index of all MEM buckets, which are the buckets of the heap
// profile. Call with active_lock held.
void mprof_cycle_publish_index_locked(unsigned index);
// Publishes all indices of all MEM buckets, and so all events up to now. Call
// with active_lock held.
void mprof_cycle_publish_all_locked(void);

// The party that ends cycles. If nobody ends cycles, each dump of a profile
// ends the current cycle, so that the profile shows all events until the dump.
enum mprof_cycle_owner {
  MPROF_CYCLE_NOBODY,
  MPROF_CYCLE_PROGRAM,  // the program has called mprof_next_cycle
  MPROF_CYCLE_COLLECTOR // a garbage collector has finished a collection
};
// Records that `owner` ends cycles. If a collector and the program both end
// cycles, the recorded owner is the collector.
void mprof_cycle_claim(enum mprof_cycle_owner owner);
// Returns whether a dump of a profile must end the current cycle. is_exit is
// true for the dump at exit.
// - If nobody ends cycles, each dump ends the cycle.
// - If the program ends cycles, only the dump at exit ends the cycle, because
//   the program will not end another cycle.
// - If a collector ends cycles, no dump ends the cycle, because only the
//   collector knows which objects are dead.
// - With the option strict_cycles, no dump ends the cycle.
bool mprof_cycle_dump_ends_it(bool is_exit);
// Returns whether the option strict_cycles is set and no cycle has ended. With
// this option, profiles show only the events of ended cycles, with one
// exception: the first profile shows all events so far if no cycle has ended.
// Until a cycle ends, later profiles show the same figures as the first
// profile.
bool mprof_cycle_is_missing(void);
// Returns who ends cycles, the program or a collector, if the profile at exit
// shows only the events until the end of the last cycle. Returns
// MPROF_CYCLE_NOBODY if this profile shows all events until the exit, or if no
// cycle has ended.
enum mprof_cycle_owner mprof_cycle_as_of(void);
// Resets the cycle number and the cycle owner to their initial values. Call
// this in a forked child.
void mprof_cycle_reset(void);

extern MPROF_HIDDEN struct mprof_lock mprof_active_lock;

#endif // MPROF_RT_BUCKET_COUNTS_H
