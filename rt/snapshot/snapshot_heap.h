// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of the heap profile: a consistent copy of the published counts of
// all buckets, which a writer uses without a lock. This header also declares
// the estimates of what the samples stand for. Taking a snapshot does not
// change a bucket, except that it may publish a cycle (cycle.h).
// (Go: memProfileInternal)

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H

#include "bucket/heapx.h"

struct mprof_mem_sample {
  const struct mprof_bucket *bucket;
  uint64_t allocs, frees; // number of sampled blocks, not scaled
};

// The counters of heapx.h, of one bucket.
struct mprof_heapx_sample {
  uint64_t n[MPROF_HEAPX_COUNTERS];
};

struct mprof_mem_snapshot {
  struct mprof_mem_sample *samples; // newest bucket first
  // One for each sample; NULL without the option heapx.
  struct mprof_heapx_sample *heapx;
  size_t len;
  size_t mapped_bytes;
  uint64_t rate;   // heap rate at the time of the snapshot, bytes
  int64_t time_ns; // CLOCK_REALTIME
};

// Takes a snapshot of all buckets, including those whose blocks are all freed.
// end_cycle: first ends the cycle, which publishes everything up to now.
// Returns 0 or -ENOMEM. Free *s with mprof_mem_snapshot_free. Takes
// active_lock; call with the guard set.
int mprof_mem_snapshot_take(struct mprof_mem_snapshot *s, bool end_cycle);
void mprof_mem_snapshot_free(struct mprof_mem_snapshot *s);

// Estimated numbers of all blocks, from the sampled blocks. A block of size
// bytes is sampled with probability 1 - exp(-size / rate), so each sampled
// block stands for 1 / (1 - exp(-size / rate)) blocks. (Go: scaleHeapSample)
struct mprof_mem_estimate {
  int64_t alloc_objects, alloc_bytes, inuse_objects, inuse_bytes;
};
// Returns the number of blocks that a sampled block of size bytes stands for.
// rate: mean bytes between samples.
double mprof_scale_factor(uint64_t size, uint64_t rate);
// Returns the estimate of a sample.
struct mprof_mem_estimate mprof_mem_scale(const struct mprof_mem_sample *s);

// Estimated numbers of the heapx profile (heapx.h).
struct mprof_heapx_estimate {
  int64_t temporary_objects, temporary_bytes;
  int64_t in_place, moved, copied_bytes;
  int64_t alloc_slack_bytes, inuse_slack_bytes;
};
// Returns the heapx estimate of sample s, whose heapx counters are x.
struct mprof_heapx_estimate
mprof_heapx_scale(const struct mprof_mem_sample *s,
                  const struct mprof_heapx_sample *x);

// Returns what a bucket counts as published: blocks allocated, and of them
// those freed. Call with active_lock held.
static inline uint64_t mprof_active_allocs(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->mem.active.allocs, memory_order_relaxed);
}
static inline uint64_t mprof_active_frees(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->mem.active.frees, memory_order_relaxed);
}
// Brings `active` up to date, and counts the records that a profile of it has.
// Between mprof_cycle_next and mprof_cycles_flush this function does the flush.
// If no cycle has ever been published, it publishes everything so far:
// otherwise a program that ends no cycle would see nothing. Returns the newest
// bucket; later ones are not in the profile.
// inuse_zero: buckets whose blocks are all freed count as records, too. Stores
// the number of records in *n. Call with active_lock held.
struct mprof_bucket *mprof_mem_publish_locked(bool inuse_zero, size_t *n);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H
