// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of the thread creation profile.

#ifndef MPROF_RT_SNAPSHOT_SNAPSHOT_THREADCREATE_H
#define MPROF_RT_SNAPSHOT_SNAPSHOT_THREADCREATE_H

#include "bucket/bucket.h"
#include "sys/os_linux.h"

struct mprof_thread_sample {
  const struct mprof_bucket *bucket; // the creator's stack, empty if unknown
  char name[MPROF_THREAD_NAME];      // "" for ended threads
  uint64_t count;                    // threads
  uint64_t live;                     // of them, those that have not ended
};

struct mprof_thread_snapshot {
  struct mprof_thread_sample *samples; // most threads first
  size_t len;
  size_t mapped_bytes;
  uint64_t threads; // sum of the counts
  int64_t time_ns;  // CLOCK_REALTIME
};

// Takes one of the live threads, or with all of those that have ended too. One
// sample a stack and name; by_stack: one a stack, with one of its names. 0 or
// ENOMEM. Free it with mprof_thread_snapshot_free. Call with the guard set.
// (Go: ThreadCreateProfile)
int mprof_thread_snapshot_take(struct mprof_thread_snapshot *s, bool all,
                               bool by_stack);
void mprof_thread_snapshot_free(struct mprof_thread_snapshot *s);

#endif // MPROF_RT_SNAPSHOT_SNAPSHOT_THREADCREATE_H
