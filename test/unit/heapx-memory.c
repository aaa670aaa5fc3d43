// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: without the option heapx, buckets and the per-thread counts in them
// take no memory for the heapx counters. With heapx=1, each heap bucket has its
// heapx counters in memory directly behind its stack, for each stack depth.
// Buckets of other types have no heapx counters.
//
// RUN: %unit -D_GNU_SOURCE -DON=0 %s %rtlib -o %t && %t
// RUN: %unit -D_GNU_SOURCE -DON=1 -DTEST_OPTIONS='"heapx=1"' %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/heapx.h"
#include "process/process.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "thread/threads.h"

static size_t bytes_of(enum mprof_bucket_type type, uint32_t depth) {
  static mprof_pc stack[100];
  stack[0]++;
  struct mprof_bucket_key key = {
      .stack = stack, .stack_len = depth, .type = type, .size = 8, .rate = 1};
  size_t before = mprof_persistent_used();
  mprof_guard_enter();
  struct mprof_bucket *b = mprof_bucket_get(&key, true);
  mprof_guard_leave();
  CHECK(b != NULL);
  if (ON && type == MPROF_BUCKET_MEM) {
    struct mprof_heapx_counts *x = mprof_heapx_of(b);
    CHECK((char *)x >= (char *)(b->stack + depth));
    CHECK((uintptr_t)x % 64 == 0);
    CHECK((size_t)((char *)(x + 1) - (char *)b) <=
          mprof_persistent_used() - before);
  }
  return mprof_persistent_used() - before;
}

static size_t units(size_t bytes) { return (bytes + 63) / 64 * 64; }

static size_t bytes_of_cells(void) {
  struct mprof_bucket *b = mem_bucket((mprof_pc[]){7}, 1, 8);
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  b->owner = b->mem.own.shard = MPROF_NO_OWNER;
  for (unsigned k = 1; k < MPROF_CELL_FROM; k++)
    mprof_count_alloc(&b->mem.own, 0);
  size_t before = mprof_persistent_used();
  mprof_count_alloc(&b->mem.own, 0);
  mprof_guard_leave();
  return mprof_persistent_used() - before;
}

int main(void) {
  CHECK(mprof_process_ready());
  bytes_of(MPROF_BUCKET_MEM, 1); // makes the table
  for (uint32_t depth = 0; depth < 100; depth++) {
    size_t plain =
        units(sizeof(struct mprof_bucket) + depth * sizeof(mprof_pc));
    CHECK_EQ(bytes_of(MPROF_BUCKET_MEM, depth),
             plain + (ON ? sizeof(struct mprof_heapx_counts) : 0));
    CHECK_EQ(bytes_of(MPROF_BUCKET_BLOCK, depth), plain);
  }
  CHECK_EQ(bytes_of_cells(), sizeof(struct mprof_cell_line) +
                                 sizeof(struct mprof_cell) +
                                 (ON ? sizeof(struct mprof_heapx_cell) : 0));
  return 0;
}
