// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A consistent copy of the published counts, for writers to work on without a
// lock. (Go: memProfileInternal)

#ifndef MPROF_RT_SNAPSHOT_H
#define MPROF_RT_SNAPSHOT_H

#include "bucket.h"

struct mprof_mem_sample {
  const struct mprof_bucket *bucket;
  uint64_t allocs, frees; // blocks, as sampled
};

struct mprof_mem_snapshot {
  struct mprof_mem_sample *samples; // newest bucket first
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
struct mprof_mem_estimate mprof_mem_scale(const struct mprof_mem_sample *s);

#endif // MPROF_RT_SNAPSHOT_H
