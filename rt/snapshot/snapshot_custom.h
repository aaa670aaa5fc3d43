// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of a profile that the program defines (custom_profile.h). A sample
// is the number of values that one stack has added to the profile and that the
// program has not removed.

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_CUSTOM_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_CUSTOM_H

#include "bucket/bucket.h"

struct mprof_custom_sample {
  const struct mprof_bucket *bucket;
  uint64_t count; // number of values that were added and not removed
};

struct mprof_custom_snapshot {
  const char *name; // name of the profile; NULL: no snapshot was taken
  struct mprof_custom_sample *samples;
  // Pointers to the `len` samples, largest count first.
  const struct mprof_custom_sample **sorted;
  size_t len;
  size_t mapped_bytes;
  uint64_t values; // sum of the counts of all samples
  int64_t time_ns; // time of the snapshot: nanoseconds of CLOCK_REALTIME
};

// Takes a snapshot of profile `number` (custom_profile.h). Acquires the lock of
// this profile. Returns 0 or -ENOMEM. Free *s with mprof_custom_snapshot_free.
// Call with the recursion guard set.
int mprof_custom_snapshot_take(struct mprof_custom_snapshot *s, size_t number);
void mprof_custom_snapshot_free(struct mprof_custom_snapshot *s);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_CUSTOM_H
