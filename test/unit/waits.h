// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes buckets of waits and of threads by hand, with a clock of known ticks,
// for tests of snapshots and writers.

#ifndef MPROF_TEST_UNIT_WAITS_H
#define MPROF_TEST_UNIT_WAITS_H

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "process/process.h"
#include "sys/clock.h"
#include "sys/tls.h"

#include "core.h"

#define TICKS_PER_SECOND 2000000000u // 2 ticks per nanosecond

static inline uint64_t no_time(void) { return 1; }

// Starts the runtime, which then knows the names of all hooked functions;
// called before the first bucket is made.
static inline void waits_start(void) {
  CHECK(mprof_process_ready());
  mprof_hooked_find_all();
  mprof_clock_set(no_time, TICKS_PER_SECOND);
}

static inline struct mprof_bucket_key wait_key(int type, int kind,
                                               uintptr_t object,
                                               const mprof_pc *stack,
                                               uint32_t len) {
  return (struct mprof_bucket_key){.stack = stack,
                                   .stack_len = len,
                                   .type = (uint8_t)type,
                                   .kind = (uint8_t)kind,
                                   .object = object};
}

static inline struct mprof_bucket *bucket_of(struct mprof_bucket_key key) {
  mprof_guard_enter();
  struct mprof_bucket *b = mprof_bucket_get(&key, true);
  mprof_guard_leave();
  CHECK(b != NULL);
  return b;
}

// Counts waits that took so many ticks in total. The count may be a fraction.
static inline void count_waits(struct mprof_bucket *b, double count,
                               uint64_t cycles) {
  atomic_fetch_add(&b->wait.count, (uint64_t)(count * (double)MPROF_COUNT_ONE));
  atomic_fetch_add(&b->wait.cycles, cycles);
}

static inline struct mprof_bucket *
block_bucket(uintptr_t object, const mprof_pc *stack, uint32_t len) {
  return bucket_of(
      wait_key(MPROF_BUCKET_BLOCK, MPROF_KIND_mutex, object, stack, len));
}

static inline struct mprof_bucket *
mutex_bucket(uintptr_t object, const mprof_pc *stack, uint32_t len) {
  return bucket_of(
      wait_key(MPROF_BUCKET_MUTEX, MPROF_KIND_mutex, object, stack, len));
}

static inline struct mprof_bucket *
thread_bucket(uint64_t created, const mprof_pc *stack, uint32_t len) {
  struct mprof_bucket *b =
      bucket_of(wait_key(MPROF_BUCKET_THREAD, 0, 0, stack, len));
  atomic_store(&b->thread.created, created);
  return b;
}

// Returns the leaf of a stack that begins in a hooked function.
#define OP_PC(function) mprof_op_pc((uintptr_t)(function))

#endif // MPROF_TEST_UNIT_WAITS_H
