// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of the block, the mutex or the wall profile. The code that writes
// a profile reads the snapshot without a lock. This module does not scale the
// counts, because they were scaled when they were added to the buckets.

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H

#include "bucket/bucket.h"
#include "snapshot/stack_groups.h"
#include "sys/clock.h"

struct mprof_wait_sample {
  const struct mprof_bucket *bucket;
  int64_t count;  // estimated number of events; at least 1 in a block profile
  int64_t cycles; // estimated duration of the waits, in ticks (clock.h)
  int64_t cpu_ns; // wall profile: processor time
};

struct mprof_wait_snapshot {
  struct mprof_wait_sample *samples; // sorted by cycles, most cycles first
  size_t len;
  size_t mapped_bytes;
  enum mprof_bucket_type type;
  // Current block_rate in ns, mutex_fraction, or rounds per second (wall).
  uint64_t rate;
  // Number of cycles in a second. 0 in a snapshot without samples: measuring it
  // may take half a millisecond, which a process at its exit must not lose.
  uint64_t ticks_per_second;
  int64_t time_ns; // time of the snapshot: nanoseconds of CLOCK_REALTIME
  // A difference of two snapshots: the time between them in nanoseconds.
  // Otherwise 0.
  int64_t duration_ns;
};

// Takes a snapshot of all buckets that have events.
// type: MPROF_BUCKET_BLOCK, MPROF_BUCKET_MUTEX or MPROF_BUCKET_WALL.
// by_stack: true: buckets that have the same stack and different locks become
//   one sample, which refers to one of these buckets; false: one sample for
//   each bucket.
// Returns 0 or -ENOMEM. Free *s with mprof_wait_snapshot_free. Call with the
// recursion guard set. (Go: blockProfileInternal, mutexProfileInternal)
int mprof_wait_snapshot_take(struct mprof_wait_snapshot *s,
                             enum mprof_bucket_type type, bool by_stack);
// Makes the difference *d of two snapshots of the same type that were taken
// with by_stack == false: the values of `after` minus those of `before`.
// Returns 0 or -ENOMEM. Free *d with mprof_wait_snapshot_free.
int mprof_wait_snapshot_subtract(struct mprof_wait_snapshot *d,
                                 const struct mprof_wait_snapshot *after,
                                 const struct mprof_wait_snapshot *before);
void mprof_wait_snapshot_free(struct mprof_wait_snapshot *s);
// Returns the number of cycles in a second. Measures it if s has no samples.
static inline uint64_t
mprof_wait_ticks_per_second(const struct mprof_wait_snapshot *s) {
  return s->ticks_per_second != 0 ? s->ticks_per_second
                                  : mprof_clock_ticks_per_second();
}
// Converts cycles of the snapshot s to nanoseconds. The pprof tool makes the
// same conversion when it reads a profile in the legacy text format. This
// function rounds in the same way, so that both results are equal.
int64_t mprof_wait_ns(const struct mprof_wait_snapshot *s, int64_t cycles);

// --- sums by stack ---

struct mprof_wait_sum {
  // The bucket with this stack whose lock had the longest waits in total.
  const struct mprof_bucket *bucket;
  int64_t count, cycles, cpu_ns;
  size_t locks; // number of different known locks
  struct mprof_stack_labels labels;
};
struct mprof_wait_groups {
  struct mprof_groups groups;
  struct mprof_wait_sum **sorted; // len pointers, most cycles first
  size_t len;
  int64_t count, cycles, cpu_ns; // sums over all stacks
};
// Groups the samples of s by stack, and stores the groups in *g. The call of
// mprof_wait_snapshot_take must have had by_stack == false, so that the samples
// of s still differ by lock.
// by_labels: true: one group for each stack and label set; false: one group for
//   each stack.
// Returns 0 or -ENOMEM. Free g->groups with mprof_groups_free.
int mprof_wait_groups_make(struct mprof_wait_groups *g,
                           const struct mprof_wait_snapshot *s, bool by_labels);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_WAIT_H
