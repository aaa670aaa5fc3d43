// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A consistent copy of the published counts, for writers to work on without a
// lock. (Go: memProfileInternal)

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H

#include "bucket/heapx.h"

struct mprof_mem_sample {
  const struct mprof_bucket *bucket;
  uint64_t allocs, frees; // blocks, as sampled
};

// What heapx.h counts of it.
struct mprof_heapx_sample {
  uint64_t n[MPROF_HEAPX_COUNTERS];
};

struct mprof_mem_snapshot {
  struct mprof_mem_sample *samples; // newest bucket first
  struct mprof_heapx_sample *heapx; // of each; NULL without the option heapx
  size_t len;
  size_t mapped_bytes;
  uint64_t rate;   // heap_rate now, bytes
  int64_t time_ns; // CLOCK_REALTIME
};

// Takes one of all buckets, freed blocks included. end_cycle: publish
// everything up to now first. 0 or ENOMEM. Free it with
// mprof_mem_snapshot_free. Call with the guard set.
int mprof_mem_snapshot_take(struct mprof_mem_snapshot *s, bool end_cycle);
void mprof_mem_snapshot_free(struct mprof_mem_snapshot *s);

// Estimates of what happened, from what was sampled: a block of size bytes is
// sampled with probability 1 - exp(-size / rate), so each sampled one stands
// for 1 / that many. (Go: scaleHeapSample)
struct mprof_mem_estimate {
  int64_t alloc_objects, alloc_bytes, inuse_objects, inuse_bytes;
};
// How many blocks of a size one stands for that was sampled at a rate.
double mprof_scale_factor(uint64_t size, uint64_t rate);
struct mprof_mem_estimate mprof_mem_scale(const struct mprof_mem_sample *s);

// The same of the heapx profile.
struct mprof_heapx_estimate {
  int64_t temporary_objects, temporary_bytes;
  int64_t in_place, moved, copied_bytes;
  int64_t alloc_slack_bytes, inuse_slack_bytes;
};
struct mprof_heapx_estimate
mprof_heapx_scale(const struct mprof_mem_sample *s,
                  const struct mprof_heapx_sample *x);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_HEAP_H
