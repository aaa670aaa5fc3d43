// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a snapshot of waits has the buckets with counts, those with the most
// ticks first. A snapshot by stack adds up buckets that differ only in the
// lock. Fractions of waits are rounded after they are added up. A stack that
// has waited shows at least one wait. A stack that made others wait may show
// none.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "block_rate=5:mutex_fraction=6"
#include "waits.h"

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "snapshot/snapshot.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "unwind/unwind.h"

static struct mprof_wait_snapshot s;

static void take(enum mprof_bucket_type type, bool by_stack) {
  mprof_wait_snapshot_free(&s);
  mprof_guard_enter();
  CHECK_EQ(mprof_wait_snapshot_take(&s, type, by_stack), 0);
  mprof_guard_leave();
  CHECK_EQ(s.type, type);
}

static void check_sample(size_t i, const struct mprof_bucket *b, int64_t count,
                         int64_t cycles) {
  CHECK(i < s.len);
  if (b != NULL)
    CHECK(s.samples[i].bucket == b);
  CHECK_EQ(s.samples[i].count, count);
  CHECK_EQ(s.samples[i].cycles, cycles);
}

int main(void) {
  waits_start();
  take(MPROF_BUCKET_BLOCK, true);
  CHECK_EQ(s.len, 0);

  const mprof_pc stack[] = {0x1000, 0x2000, 0x3000};
  struct mprof_bucket *a = block_bucket(0x40, stack, 3);
  struct mprof_bucket *b = block_bucket(0x80, stack, 3);
  struct mprof_bucket *unknown = block_bucket(0, stack, 3);
  struct mprof_bucket *other = block_bucket(0x40, stack + 1, 2);
  struct mprof_bucket_key key =
      wait_key(MPROF_BUCKET_BLOCK, MPROF_KIND_mutex, 0x40, stack, 3);
  key.end = MPROF_STACK_CUT_CHAIN;
  struct mprof_bucket *cut = bucket_of(key);
  key.end = MPROF_STACK_COMPLETE;
  key.skip = 1;
  struct mprof_bucket *skipped = bucket_of(key);
  struct mprof_bucket *mutex = mutex_bucket(0x40, stack, 3);
  block_bucket(0xc0, stack, 3); // without counts
  count_waits(a, 2.75, 100);
  count_waits(b, 0.75, 900);
  count_waits(unknown, 1, 7);
  count_waits(other, 0.25, 5);
  count_waits(cut, 3, 0);
  count_waits(skipped, 0, 1);
  count_waits(mutex, 0.25, 50);

  take(MPROF_BUCKET_BLOCK, false);
  CHECK_EQ(s.len, 6);
  check_sample(0, b, 1, 900);
  check_sample(1, a, 3, 100);
  check_sample(2, unknown, 1, 7);
  check_sample(3, other, 1, 5);
  check_sample(4, skipped, 1, 1);
  check_sample(5, cut, 3, 0);
  CHECK_EQ(s.rate, 5);
  CHECK_EQ(s.ticks_per_second, TICKS_PER_SECOND);
  CHECK_EQ(mprof_wait_ns(&s, 900), 450);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_waits), 10);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_truncated_waits), 3);

  take(MPROF_BUCKET_BLOCK, true);
  CHECK_EQ(s.len, 4);
  check_sample(0, NULL, 5, 1007); // 4.5, not the sum of rounded counts
  CHECK_EQ(s.samples[0].bucket->stack_len, 3);
  check_sample(1, other, 1, 5);
  check_sample(2, skipped, 1, 1);
  check_sample(3, cut, 3, 0);

  take(MPROF_BUCKET_MUTEX, true);
  CHECK_EQ(s.len, 1);
  check_sample(0, mutex, 0, 50);
  CHECK_EQ(s.rate, 6);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_contentions), 0);

  // A bucket may grow after the snapshot was taken; the snapshot stays the
  // same.
  take(MPROF_BUCKET_MUTEX, false);
  count_waits(mutex, 1, 1);
  check_sample(0, mutex, 0, 50);
  mprof_wait_snapshot_free(&s);
  return 0;
}
