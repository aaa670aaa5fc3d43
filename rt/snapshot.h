// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A consistent copy of the published counts, for writers to work on without a
// lock. (Go: memProfileInternal)

#ifndef MPROF_RT_SNAPSHOT_H
#define MPROF_RT_SNAPSHOT_H

#include "heapx.h"

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

// --- snapshot_wait.c: the block and the mutex profile ---

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

// --- snapshot_thread.c: the thread creation profile ---

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

// --- snapshot_custom.c: a profile of the program's own ---

struct mprof_custom_sample {
  const struct mprof_bucket *bucket;
  uint64_t count; // values
};

struct mprof_custom_snapshot {
  const char *name; // NULL: none was taken
  struct mprof_custom_sample *samples;
  const struct mprof_custom_sample **sorted; // most values first
  size_t len;
  size_t mapped_bytes;
  uint64_t values; // sum of the counts
  int64_t time_ns; // CLOCK_REALTIME
};

// Takes one of the profile with a number of custom_profile.h. 0 or ENOMEM. Free
// it with mprof_custom_snapshot_free. Call with the guard set.
int mprof_custom_snapshot_take(struct mprof_custom_snapshot *s, size_t number);
void mprof_custom_snapshot_free(struct mprof_custom_snapshot *s);

#endif // MPROF_RT_SNAPSHOT_H
