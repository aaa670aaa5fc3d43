// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of the heap profile: a consistent copy of the published counts of
// all buckets. The code that writes a profile reads this copy without a lock.
// The counts are numbers of sampled blocks, from which the numbers of all
// blocks are estimated. Taking a snapshot may publish a cycle (counts.h), and
// does not change the buckets otherwise. (Go: memProfileInternal)

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H

#include "bucket/heapx.h"
#include "snapshot/stack_groups.h"
#include "sys/scale.h"

struct mprof_mem_sample {
  const struct mprof_bucket *bucket;
  uint64_t allocs, frees; // numbers of sampled blocks, not scaled
  // Estimated number of all blocks; set by mprof_estimate_objects.
  int64_t alloc_objects, inuse_objects;
};

// Returns the number of sampled blocks in use. An event near the end of a cycle
// may be counted one cycle early (counts.c). If this happens to the free of a
// block, but not to its allocation, frees may exceed allocs. The result is then
// 0, because a number of blocks cannot be negative.
static inline uint64_t mprof_mem_inuse(const struct mprof_mem_sample *s) {
  return s->allocs > s->frees ? s->allocs - s->frees : 0;
}

// The heapx counters (heapx.h) of one bucket.
struct mprof_heapx_sample {
  uint64_t n[MPROF_HEAPX_COUNTERS];
  const struct mprof_heapx_lives *lives; // of the bucket; or NULL
  // Estimated numbers of all blocks; set by mprof_estimate_objects.
  int64_t temporary_objects, in_place, moved;
};

struct mprof_mem_snapshot {
  struct mprof_mem_sample *samples; // sorted by age of the bucket, newest first
  // heapx[i] has the heapx counters of the bucket of samples[i]. NULL if the
  // option heapx is off.
  struct mprof_heapx_sample *heapx;
  size_t len;
  size_t mapped_bytes;
  uint64_t rate;   // heap sampling rate at the time of the snapshot, bytes
  int64_t time_ns; // time of the snapshot: nanoseconds of CLOCK_REALTIME
  // An earlier snapshot, whose values the writer of the profile subtracts.
  // NULL: none. keeps_inuse: the blocks in use are not subtracted.
  const struct mprof_mem_snapshot *before;
  bool keeps_inuse;
};

// Returns the sample of the earlier snapshot for the bucket of samples[i], or
// NULL if the bucket is newer than that snapshot. A snapshot has all buckets,
// newest first, so the earlier samples match the last samples of s.
static inline const struct mprof_mem_sample *
mprof_mem_sample_before(const struct mprof_mem_snapshot *s, size_t i) {
  const struct mprof_mem_snapshot *b = s->before;
  if (b == NULL || i + b->len < s->len)
    return NULL;
  const struct mprof_mem_sample *x = &b->samples[i + b->len - s->len];
  return x->bucket == s->samples[i].bucket ? x : NULL;
}

// Takes a snapshot of all buckets, including buckets whose blocks are all
// freed. Acquires active_lock.
// end_cycle: true: first ends the current cycle, which publishes all events up
//   to now.
// Returns 0 or -ENOMEM. Free *s with mprof_mem_snapshot_free. Call with the
// recursion guard set.
int mprof_mem_snapshot_take(struct mprof_mem_snapshot *s, bool end_cycle);
// Takes a snapshot of the heap at its peak (bucket/peak.h). Leaves out buckets
// without events before the peak. s->time_ns is the time of the peak, or the
// present time if no memory was in use yet. Call only with the option peak.
// Acquires peak_lock. Otherwise like mprof_mem_snapshot_take.
int mprof_mem_snapshot_take_peak(struct mprof_mem_snapshot *s);
void mprof_mem_snapshot_free(struct mprof_mem_snapshot *s);

// These functions return the published counts of bucket b: the number of
// allocated blocks, and the number of these blocks that were freed. Call them
// with active_lock held.
static inline uint64_t mprof_active_allocs(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->mem.active.allocs, memory_order_relaxed);
}
static inline uint64_t mprof_active_frees(const struct mprof_bucket *b) {
  return atomic_load_explicit(&b->mem.active.frees, memory_order_relaxed);
}
// Publishes the counts of finished cycles (counts.h), and stores in *n the
// number of buckets that a profile would show. Returns the newest bucket, which
// is the first of the list. Buckets that are added later do not belong to the
// profile. Call with active_lock held.
// Usually this function publishes only the cycle that mprof_cycle_advance has
// ended last, if its counts are not published yet. In two cases, the function
// publishes all events up to now:
// - Neither the program nor a garbage collector ends cycles. Otherwise the
//   profile would never change.
// - All published counts are still 0.
// inuse_zero: true: *n includes buckets whose blocks are all freed.
struct mprof_bucket *mprof_mem_publish_locked(bool inuse_zero, size_t *n);

// --- estimates of all blocks ---
//
// They are computed from the sampled blocks and the factors of sys/scale.h.

// Estimated numbers of a sample or of a sum of samples.
struct mprof_mem_estimate {
  int64_t alloc_objects, alloc_bytes, inuse_objects, inuse_bytes;
};
// Returns the estimate of sample s of a snapshot.
struct mprof_mem_estimate mprof_mem_scale(const struct mprof_mem_sample *s);

// The variances of the estimated bytes, in bytes squared. 0: the bytes are
// counted.
struct mprof_mem_variance {
  mprof_u128 alloc_bytes, inuse_bytes;
};
// Adds the variances of the estimate of sample s. Samples are independent, so
// the variance of a sum of samples is the sum of their variances.
void mprof_mem_add_variance(struct mprof_mem_variance *sum,
                            const struct mprof_mem_sample *s);

// Estimated numbers of the heapx profile (heapx.h).
struct mprof_heapx_estimate {
  int64_t temporary_objects, temporary_bytes;
  int64_t in_place, moved, copied_bytes;
  int64_t alloc_slack_bytes, inuse_slack_bytes;
};
// Returns the estimated heapx values for sample s. x: the heapx counters of the
// bucket of s.
struct mprof_heapx_estimate
mprof_heapx_scale(const struct mprof_mem_sample *s,
                  const struct mprof_heapx_sample *x);

// Fills in the estimated numbers of objects of all samples of the snapshot.
//
// A sample of a large block represents few blocks, for example 1.6. If each of
// 100 samples with this value were rounded to 2 by itself, their sum would be
// too large by 40. Therefore the samples of a stack are rounded one after
// another: the remainder of a sample is added to the next sample of the stack.
// The sum over the samples of a stack is off by less than one object. It is
// unbiased over many stacks, because a hash of the stack decides whether the
// sum is rounded up or down. No sample has more objects in use than allocated.
// Returns 0 or -ENOMEM.
int mprof_estimate_objects(struct mprof_mem_snapshot *s);

// --- sums by stack ---

struct mprof_heap_sum {
  const struct mprof_bucket *bucket; // a bucket with the stack of this group
  struct mprof_mem_estimate sum;
  struct mprof_mem_variance variance;
  uint64_t alloc_samples, inuse_samples;
  struct mprof_stack_labels labels;
};
struct mprof_heap_groups {
  struct mprof_groups groups;
  // Pointers to the len groups, in any order. The report sorts the pointers.
  struct mprof_heap_sum **sorted;
  size_t len;
  struct mprof_mem_estimate total;
  struct mprof_mem_variance variance; // of the total
  uint64_t samples, sample_frees;
};
// Groups the samples of s by stack, and stores the groups in *g. Returns 0 or
// -ENOMEM. Free g->groups with mprof_groups_free.
int mprof_heap_groups_make(struct mprof_heap_groups *g,
                           const struct mprof_mem_snapshot *s);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H
