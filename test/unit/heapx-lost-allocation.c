// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a block counts as temporary only if its thread frees the block before
// the thread's next allocation. An allocation that cannot be counted for lack
// of memory also counts as the next allocation.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "heap_rate=1:heapx=1:max_memory_mb=8"
#include "core.h"

#include "bucket/heapx.h"
#include "process/process.h"
#include "snapshot/snapshot.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"

#include <stdlib.h>

extern void *__mprof_malloc(size_t size);
extern void __mprof_free(void *ptr);

__attribute__((noinline)) static void *known_site(void) {
  CHECK(site_asks(100));
  void *volatile p = __mprof_malloc(100);
  return p;
}

__attribute__((noinline)) static void *new_site(void) {
  CHECK(site_asks(200));
  void *volatile p = __mprof_malloc(200);
  return p;
}

static uint64_t temporary(void) {
  struct mprof_mem_snapshot s;
  uint64_t n = 0;
  mprof_guard_enter();
  CHECK_EQ(mprof_mem_snapshot_take(&s, true), 0);
  for (size_t i = 0; i < s.len; i++)
    n += s.heapx[i].n[MPROF_HEAPX_TEMPORARY];
  mprof_mem_snapshot_free(&s);
  mprof_guard_leave();
  return n;
}

int main(void) {
  CHECK(mprof_process_ready());
  // A single call, so that the stack stays the same.
  for (int k = 0; k < 2; k++) {
    void *p = known_site();
    void *q = NULL;
    if (k == 1) {
      mprof_guard_enter();
      while (mprof_persistent_try_alloc(64))
        ;
      mprof_guard_leave();
      CHECK_EQ(mprof_stat_get(MPROF_STAT_no_memory), 0);
      q = new_site();
      CHECK_EQ(mprof_stat_get(MPROF_STAT_no_memory), 1);
    }
    __mprof_free(p);
    __mprof_free(q);
    CHECK_EQ(temporary(), 1);
  }
  return 0;
}
