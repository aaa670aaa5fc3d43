// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of the block or the mutex profile.

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H

#include "bucket/bucket.h"

struct mprof_wait_sample {
  const struct mprof_bucket *bucket;
  int64_t count;  // events, estimated; of a block bucket at least 1
  int64_t cycles; // ticks of clock.h, estimated
};

struct mprof_wait_snapshot {
  struct mprof_wait_sample *samples; // most cycles first
  size_t len;
  size_t mapped_bytes;
  enum mprof_bucket_type type;
  uint64_t rate;             // block_rate in ns, or mutex_fraction, now
  uint64_t ticks_per_second; // of cycles
  int64_t time_ns;           // CLOCK_REALTIME
};

// Takes one of all buckets of type BLOCK or MUTEX that have events. 0 or
// ENOMEM. by_stack: buckets whose stacks are equal but for the lock are summed
// under one of them. Free it with mprof_wait_snapshot_free. Call with the guard
// set. (Go: blockProfileInternal, mutexProfileInternal)
int mprof_wait_snapshot_take(struct mprof_wait_snapshot *s,
                             enum mprof_bucket_type type, bool by_stack);
void mprof_wait_snapshot_free(struct mprof_wait_snapshot *s);
// Ticks of a snapshot in nanoseconds, rounded as pprof does for the legacy
// text.
int64_t mprof_wait_ns(const struct mprof_wait_snapshot *s, int64_t cycles);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H
