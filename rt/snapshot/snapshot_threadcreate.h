// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A snapshot of the profile "threadcreate": the stacks that created threads,
// and the names of the live threads. The names are read from /proc.

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_THREADCREATE_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_THREADCREATE_H

#include "bucket/bucket.h"
#include "sys/os.h"

struct mprof_threadcreate_sample {
  // Bucket of the creation stack. An empty stack means that the creation was
  // not recorded.
  const struct mprof_bucket *bucket;
  // Thread name. "": the threads have ended, or the name cannot be read.
  char name[MPROF_THREAD_NAME];
  uint64_t count; // number of threads
  uint64_t live;  // number of these threads that are live
};

struct mprof_threadcreate_snapshot {
  struct mprof_threadcreate_sample *samples; // sorted by count, largest first
  size_t len;
  size_t mapped_bytes;
  uint64_t threads; // sum of the counts of all samples
  uint64_t live;    // number of these threads that are live
  int64_t time_ns;  // time of the snapshot: nanoseconds of CLOCK_REALTIME
  // A difference of two snapshots: the time between them in nanoseconds.
  // Otherwise 0.
  int64_t duration_ns;
};

// Takes a snapshot of all threads that recorded stacks have created, and of the
// other live threads: the threads of the registry, the first thread of the
// process and the calling thread.
// by_stack: true: one sample for each stack, with the name of one of its
//   threads; false: one sample for each stack and thread name.
// Returns 0 or -ENOMEM. Free *s with mprof_threadcreate_snapshot_free. Call
// with the recursion guard set. (Go: ThreadCreateProfile)
int mprof_threadcreate_snapshot_take(struct mprof_threadcreate_snapshot *s,
                                     bool by_stack);
// Makes the difference *d of two snapshots by stack, without names: the counts
// of `after` minus those of `before`, as negative numbers modulo 2^64 if
// `before` has more. Changes neither. Returns 0 or -ENOMEM. Free
// *d with mprof_threadcreate_snapshot_free.
int mprof_threadcreate_snapshot_subtract(
    struct mprof_threadcreate_snapshot *d,
    const struct mprof_threadcreate_snapshot *after,
    const struct mprof_threadcreate_snapshot *before);
void mprof_threadcreate_snapshot_free(struct mprof_threadcreate_snapshot *s);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_THREADCREATE_H
