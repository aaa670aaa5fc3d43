// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_mem_profile behaves like Go's runtime.MemProfile. If the array
// is too short, the call leaves the array untouched, returns ERANGE and tells
// the length needed. A length without an array returns EINVAL. Each record has
// its rate, and unused stack entries are 0. Stacks whose blocks are all freed
// are left out unless requested.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "mprof/mprof.h"

#include <errno.h>

int main(void) {
  size_t n = 99;
  CHECK_EQ(mprof_mem_profile(NULL, 0, 1, &n), 0);
  CHECK_EQ(n, 0);
  struct mprof_bucket *live = mem_bucket((mprof_pc[]){0x1000, 0x2000}, 2, 24);
  struct mprof_bucket *dead = mem_bucket((mprof_pc[]){0x3000}, 1, 8);
  mprof_pc deep[40];
  for (size_t i = 0; i < 40; i++)
    deep[i] = 0x5000 + i;
  struct mprof_bucket *third = mem_bucket(deep, 40, 1);
  live->mem.active.allocs = 3;
  live->mem.active.frees = 1;
  dead->mem.active.allocs = dead->mem.active.frees = 2;
  third->mem.active.allocs = 1;

  struct mprof_mem_record r[3], poison;
  memset(&poison, 0xff, sizeof(poison));
  for (int i = 0; i < 3; i++)
    r[i] = poison;
  CHECK_EQ(mprof_mem_profile(NULL, 0, 1, &n), ERANGE);
  CHECK_EQ(n, 3);
  CHECK_EQ(mprof_mem_profile(r, 2, 1, &n), ERANGE);
  CHECK(memcmp(&r[0], &poison, sizeof(poison)) == 0);
  CHECK_EQ(mprof_mem_profile(r, 3, 1, &n), 0);
  CHECK_EQ(r[2].alloc_bytes, 72);
  CHECK_EQ(r[2].rate, 1);
  CHECK_EQ(r[2].free_bytes, 24);
  CHECK_EQ(r[2].stack0[1], 0x2000);
  for (int i = 2; i < MPROF_RECORD_STACK; i++)
    CHECK_EQ(r[2].stack0[i], 0);
  CHECK_EQ(r[0].stack0[MPROF_RECORD_STACK - 1], 0x5000 + 31);
  CHECK_EQ(mprof_mem_profile(r, 3, 0, &n), 0);
  CHECK_EQ(n, 2);
  CHECK_EQ(r[1].alloc_objects, 3);
  CHECK_EQ(mprof_mem_profile(NULL, 3, 1, &n), EINVAL);
  CHECK_EQ(n, 0);
  CHECK_EQ(mprof_mem_profile(r, 3, 1, NULL), EINVAL);
  CHECK_EQ(mprof_block_profile(NULL, 3, &n), EINVAL);
  CHECK_EQ(mprof_mutex_profile(NULL, 3, &n), EINVAL);
  CHECK_EQ(mprof_thread_create_profile(NULL, 3, &n), EINVAL);
  CHECK_EQ(mprof_thread_profile(NULL, 3, &n), EINVAL);
  CHECK_EQ(mprof_thread_leak_profile(NULL, 3, &n), EINVAL);
  return 0;
}
