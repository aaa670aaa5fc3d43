// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of one of the program's own profiles (custom_profile.h): the
// number of values at each stack.

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_CUSTOM_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_CUSTOM_H

#include "bucket/bucket.h"

struct mprof_custom_sample {
  const struct mprof_bucket *bucket;
  uint64_t count; // number of values
};

struct mprof_custom_snapshot {
  const char *name; // name of the profile; NULL: no snapshot was taken
  struct mprof_custom_sample *samples;
  const struct mprof_custom_sample **sorted; // most values first
  size_t len;
  size_t mapped_bytes;
  uint64_t values; // sum of the counts
  int64_t time_ns; // CLOCK_REALTIME
};

// Takes a snapshot of the profile with this number (custom_profile.h). Returns
// 0 or -ENOMEM. Free *s with mprof_custom_snapshot_free. Acquires the lock of
// the profile. Call with the guard set.
int mprof_custom_snapshot_take(struct mprof_custom_snapshot *s, size_t number);
void mprof_custom_snapshot_free(struct mprof_custom_snapshot *s);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_CUSTOM_H
