// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: two events have different buckets if their type, block size, rate,
// number of skipped frames, reason for the stack's end, labels or stack differ.
// Equal keys have one bucket. A lookup alone creates no bucket.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "sys/tls.h"
#include "unwind/unwind.h"

static const mprof_pc stack[] = {0x1000, 0x2000, 0x3000};

static struct mprof_bucket *get(struct mprof_bucket_key key, bool alloc) {
  key.stack = stack;
  mprof_guard_enter();
  struct mprof_bucket *b = mprof_bucket_get(&key, alloc);
  mprof_guard_leave();
  return b;
}

int main(void) {
  const struct mprof_bucket_key keys[] = {
      {.type = MPROF_BUCKET_MEM, .stack_len = 3, .size = 16, .rate = 1},
      {.type = MPROF_BUCKET_BLOCK, .stack_len = 3, .size = 16, .rate = 1},
      {.type = MPROF_BUCKET_MUTEX, .stack_len = 3, .size = 16, .rate = 1},
      {.type = MPROF_BUCKET_MEM, .stack_len = 3, .size = 32, .rate = 1},
      {.type = MPROF_BUCKET_MEM, .stack_len = 3, .size = 16, .rate = 2},
      {.type = MPROF_BUCKET_MEM, .stack_len = 2, .size = 16, .rate = 1},
      {.type = MPROF_BUCKET_MEM,
       .stack_len = 3,
       .size = 16,
       .rate = 1,
       .skip = 1},
      {.type = MPROF_BUCKET_MEM,
       .stack_len = 3,
       .size = 16,
       .rate = 1,
       .end = MPROF_STACK_CUT_DEPTH},
      {.type = MPROF_BUCKET_MEM,
       .stack_len = 3,
       .size = 16,
       .rate = 1,
       .labels = 7},
  };
  const size_t n = sizeof(keys) / sizeof(keys[0]);
  struct mprof_bucket *b[n];
  for (size_t i = 0; i < n; i++) {
    CHECK(get(keys[i], false) == NULL);
    b[i] = get(keys[i], true);
    CHECK(b[i] != NULL);
    for (size_t k = 0; k < i; k++)
      CHECK(b[k] != b[i]);
  }
  for (size_t i = 0; i < n; i++) {
    CHECK(get(keys[i], true) == b[i]);
    CHECK(get(keys[i], false) == b[i]);
    CHECK_EQ(b[i]->size, keys[i].size);
    CHECK_EQ(b[i]->labels, keys[i].labels);
    CHECK_EQ(b[i]->stack[0], 0x1000);
  }
  return 0;
}
