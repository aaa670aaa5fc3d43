// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the peak is the moment when the estimated bytes in use are highest,
// not the bytes of the sampled blocks. A free in a signal handler that has
// interrupted the runtime lowers the bytes in use. A later peak that is not
// higher changes nothing. The snapshot has the time of the peak.
//
// RUN: %unit -D_GNU_SOURCE -DTEST_OPTIONS='"peak=1"' %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "bucket/peak.h"
#include "process/process.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"

static uint64_t ticks;
static uint64_t clock_of_test(void) { return ticks; }

static struct mprof_bucket *bucket(mprof_pc pc, size_t size) {
  const struct mprof_bucket_key key = {.stack = &pc,
                                       .stack_len = 1,
                                       .type = MPROF_BUCKET_MEM,
                                       .size = size,
                                       .rate = 524288};
  struct mprof_bucket *b = mprof_bucket_get(&key, true);
  CHECK(b != NULL);
  return b;
}

static void add(struct mprof_bucket *b, int allocs, int frees) {
  for (ticks += 1000; allocs > 0; allocs--)
    mprof_peak_alloc(b);
  for (; frees > 0; frees--)
    mprof_peak_free(b);
}

// Checks the numbers of blocks of b in the peak's snapshot, and returns the
// snapshot's time.
static int64_t check(const struct mprof_bucket *b, uint64_t allocs,
                     uint64_t frees) {
  struct mprof_mem_snapshot s;
  CHECK_EQ(mprof_mem_snapshot_take_peak(&s), 0);
  uint64_t seen_allocs = 0, seen_frees = 0;
  for (size_t i = 0; i < s.len; i++)
    if (s.samples[i].bucket == b) {
      seen_allocs = s.samples[i].allocs;
      seen_frees = s.samples[i].frees;
    }
  CHECK_EQ(seen_allocs, allocs);
  CHECK_EQ(seen_frees, frees);
  const int64_t time_ns = s.time_ns;
  mprof_mem_snapshot_free(&s);
  return time_ns;
}

int main(void) {
  CHECK(mprof_process_ready());
  mprof_guard_enter();
  mprof_clock_set(clock_of_test, 1000);
  struct mprof_bucket *small = bucket(1, 16), *large = bucket(2, 600000);
  check(small, 0, 0);

  // Ten sampled small blocks stand for 5 MiB, one large block for 0.8 MiB.
  add(small, 10, 0);
  add(small, 0, 6);
  add(large, 3, 0);
  check(small, 10, 0);
  check(large, 0, 0);

  // 4 small and 5 large blocks are more than 10 small blocks.
  add(large, 2, 0);
  check(small, 10, 6);
  check(large, 5, 0);

  // Without the frees in a handler, the next block would make a new peak.
  mprof_peak_free_inside(small);
  mprof_peak_free_inside(large);
  add(large, 1, 0);
  check(large, 5, 0);
  const int64_t before = check(large, 5, 0);
  ticks += 1000000;
  CHECK(check(large, 5, 0) - before < 0);
  add(large, 1, 0);
  check(large, 7, 1);
  CHECK(check(small, 10, 7) > before);

  // A free in a handler after the peak is not in the counts at the peak, with
  // or without later events. It is in the counts at the next peak.
  mprof_peak_free_inside(large);
  check(large, 7, 1);
  add(small, 0, 1);
  check(large, 7, 1);
  add(large, 2, 0);
  check(large, 9, 2);

  // The clock of another processor may be behind.
  const int64_t on_time = check(large, 9, 2);
  ticks -= 1;
  CHECK(check(large, 9, 2) - on_time < 1000000000);
  CHECK(check(large, 9, 2) >= on_time);
  mprof_guard_leave();
  return 0;
}
