// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each of a million stacks gets a bucket of its own and is found again
// in this bucket.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "sys/stats.h"

enum { N = 1000000 };

static struct mprof_bucket *of(uintptr_t i) {
  mprof_pc stack[3] = {0x400000 + (i % 1000) * 16, 0x500000 + i / 1000 * 16,
                       0x600000};
  return mem_bucket(stack, 3, 64);
}

int main(void) {
  struct mprof_bucket **all = malloc(N * sizeof(*all));
  for (size_t i = 0; i < N; i++) {
    all[i] = of(i);
    CHECK(all[i] != NULL);
  }
  CHECK_EQ(mprof_stat_get(MPROF_STAT_buckets), N);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_no_memory), 0);
  for (size_t i = 0; i < N; i++)
    CHECK(of(i) == all[i]);
  size_t listed = 0;
  for (struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM); b;
       b = b->allnext)
    listed++;
  CHECK_EQ(listed, N);
  return 0;
}
