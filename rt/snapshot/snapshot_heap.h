// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of the heap profile: a consistent copy of the published counts of
// all buckets. A writer uses the copy without a lock. This header also declares
// the estimates for all blocks, which are computed from the sampled blocks.
// Taking a snapshot does not change any bucket, except that it may publish a
// cycle (cycle.h). (Go: memProfileInternal)

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H

#include "bucket/heapx.h"

struct mprof_mem_sample {
  const struct mprof_bucket *bucket;
  uint64_t allocs, frees; // number of sampled blocks, not scaled
  // Estimated number of all blocks; set by mprof_estimate_objects.
  int64_t alloc_objects, inuse_objects;
};

// The heapx counters (heapx.h) of one bucket.
struct mprof_heapx_sample {
  uint64_t n[MPROF_HEAPX_COUNTERS];
  // Estimated numbers of all blocks; set by mprof_estimate_objects.
  int64_t temporary_objects, in_place, moved;
};

struct mprof_mem_snapshot {
  struct mprof_mem_sample *samples; // newest bucket first
  // One element for each sample; NULL without the option heapx.
  struct mprof_heapx_sample *heapx;
  size_t len;
  size_t mapped_bytes;
  uint64_t rate;   // heap rate at the time of the snapshot, bytes
  int64_t time_ns; // CLOCK_REALTIME
};

// Takes a snapshot of all buckets, including buckets whose blocks are all
// freed. end_cycle: first ends the current cycle, which publishes all events so
// far. Returns 0 or -ENOMEM. Free *s with mprof_mem_snapshot_free. Acquires
// active_lock. Call with the guard set.
int mprof_mem_snapshot_take(struct mprof_mem_snapshot *s, bool end_cycle);
void mprof_mem_snapshot_free(struct mprof_mem_snapshot *s);

// Return the published counts of a bucket: the number of allocated blocks, and
// the number of these blocks that were freed. Call with active_lock held.
static inline uint64_t mprof_active_allocs(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->mem.active.allocs, memory_order_relaxed);
}
static inline uint64_t mprof_active_frees(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->mem.active.frees, memory_order_relaxed);
}
// Updates the published counts `active` of all buckets, and counts the records
// that a profile would have. If mprof_cycle_next was called and
// mprof_cycles_flush was not yet, this function does the flush. If no cycle was
// ever published, it publishes all events so far; otherwise the profile of a
// program that ends no cycle would be empty. Returns the newest bucket of the
// profile. Buckets added later are not part of the profile. inuse_zero: a
// bucket whose blocks are all freed also counts as a record. *n receives the
// number of records. Call with active_lock held.
struct mprof_bucket *mprof_mem_publish_locked(bool inuse_zero, size_t *n);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H
