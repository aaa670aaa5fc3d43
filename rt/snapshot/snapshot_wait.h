// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of the block profile or the mutex profile. A writer uses it
// without a lock. The counts were scaled when they were added to the buckets,
// so this module does not scale them.

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H

#include "bucket/bucket.h"

struct mprof_wait_sample {
  const struct mprof_bucket *bucket;
  int64_t count;  // estimated number of events; at least 1 in a block profile
  int64_t cycles; // estimated ticks of clock.h
};

struct mprof_wait_snapshot {
  struct mprof_wait_sample *samples; // most cycles first
  size_t len;
  size_t mapped_bytes;
  enum mprof_bucket_type type;
  uint64_t rate;             // current block_rate in ns, or mutex_fraction
  uint64_t ticks_per_second; // unit of the samples' cycles
  int64_t time_ns;           // CLOCK_REALTIME
};

// Takes a snapshot of all buckets that have events.
// type: MPROF_BUCKET_BLOCK or MPROF_BUCKET_MUTEX.
// by_stack: merges buckets that differ only in the lock into one sample, which
//   refers to one of these buckets.
// Returns 0 or -ENOMEM. Free *s with mprof_wait_snapshot_free. Call with the
// guard set. (Go: blockProfileInternal, mutexProfileInternal)
int mprof_wait_snapshot_take(struct mprof_wait_snapshot *s,
                             enum mprof_bucket_type type, bool by_stack);
void mprof_wait_snapshot_free(struct mprof_wait_snapshot *s);
// Converts cycles of a snapshot to nanoseconds. Rounds the result as pprof does
// when it reads the legacy text.
int64_t mprof_wait_ns(const struct mprof_wait_snapshot *s, int64_t cycles);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H
