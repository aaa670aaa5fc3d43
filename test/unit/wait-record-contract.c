// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_block_profile and mprof_mutex_profile behave like Go's
// functions. If the array is too short, the call leaves the array untouched,
// returns ERANGE and tells the length needed. Unused stack entries of a record
// are 0, and waits for different locks at one stack are one record. Setting the
// rate to 0 afterwards changes no record.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "block_rate=1:mutex_fraction=1"
#include "waits.h"

#include "bucket/bucket.h"
#include "mprof/mprof.h"
#include "sys/os.h"
#include "sys/tls.h"

#include <errno.h>

typedef int profile(struct mprof_block_record *records, size_t len, size_t *n);

static void check(profile *get, int type) {
  size_t n = 99;
  CHECK_EQ(get(NULL, 0, &n), 0);
  CHECK_EQ(n, 0);
  mprof_pc deep[40];
  for (size_t i = 0; i < 40; i++)
    deep[i] = 0x5000 + i;
  count_waits(bucket_of(wait_key(type, 0, 0x40, deep, 40)), 3, 300);
  count_waits(bucket_of(wait_key(type, 0, 0x80, deep, 40)), 4, 400);
  count_waits(bucket_of(wait_key(type, 0, 0x80, deep, 2)), 1, 1000);

  struct mprof_block_record r[3], poison;
  memset(&poison, 0xff, sizeof(poison));
  for (int i = 0; i < 3; i++)
    r[i] = poison;
  CHECK_EQ(get(NULL, 0, &n), ERANGE);
  CHECK_EQ(n, 2);
  CHECK_EQ(get(r, 1, &n), ERANGE);
  CHECK_EQ(n, 2);
  CHECK(memcmp(&r[0], &poison, sizeof(poison)) == 0);
  CHECK_EQ(get(r, 3, &n), 0);
  CHECK_EQ(n, 2);
  CHECK(memcmp(&r[2], &poison, sizeof(poison)) == 0);
  CHECK_EQ(r[0].count, 1);
  CHECK_EQ(r[0].cycles, 1000);
  CHECK_EQ(r[0].stack0[1], 0x5001);
  for (int i = 2; i < MPROF_RECORD_STACK; i++)
    CHECK_EQ(r[0].stack0[i], 0);
  CHECK_EQ(r[1].count, 7);
  CHECK_EQ(r[1].cycles, 700);
  CHECK_EQ(r[1].stack0[MPROF_RECORD_STACK - 1], 0x5000 + 31);

  struct mprof_block_record later[2];
  CHECK_EQ(mprof_set_block_rate(0), 1);
  CHECK_EQ(mprof_set_mutex_fraction(0), 1);
  CHECK_EQ(get(later, 2, &n), 0);
  CHECK(memcmp(r, later, sizeof(later)) == 0);
  mprof_set_block_rate(1);
  mprof_set_mutex_fraction(1);

  mprof_guard_enter(); // as inside another call
  CHECK_EQ(get(r, 3, &n), EBUSY);
  CHECK_EQ(n, 0);
  mprof_guard_leave();
  mprof_os_fail_map(1);
  CHECK_EQ(get(r, 3, &n), ENOMEM);
  mprof_os_fail_map(0);
}

int main(void) {
  waits_start();
  errno = 77;
  check(mprof_block_profile, MPROF_BUCKET_BLOCK);
  check(mprof_mutex_profile, MPROF_BUCKET_MUTEX);
  CHECK_EQ(mprof_ticks_per_second(), TICKS_PER_SECOND);
  CHECK_EQ(errno, 77);
  return 0;
}
