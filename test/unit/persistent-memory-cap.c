// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: when MProf has used max_memory_mb, further allocations of MProf's own
// persistent memory fail. Each failure is counted, and memory that was
// allocated before stays unchanged.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "max_memory_mb=4"
#include "core.h"

#include "process/process.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"

int main(void) {
  CHECK(mprof_process_ready());
  CHECK(mprof_guard_enter());
  CHECK_EQ(mprof_persistent_used(), 0);
  char *first = mprof_persistent_alloc(100);
  CHECK_EQ((uintptr_t)first % 64, 0);
  memset(first, 1, 100);
  uint32_t handle = mprof_persistent_handle(first);
  CHECK(handle != 0 && mprof_persistent_pointer(handle) == first);
  size_t given = 128;
  char *p;
  while ((p = mprof_persistent_alloc(1000))) {
    CHECK_EQ(p[0] | p[999], 0);
    memset(p, 2, 1000);
    given += 1024;
  }
  CHECK_EQ(mprof_persistent_used(), given);
  CHECK(given <= 4 << 20 && given > (4 << 20) - 2048);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_no_memory), 1);
  CHECK(!mprof_persistent_alloc(SIZE_MAX - 100));
  CHECK_EQ(mprof_stat_get(MPROF_STAT_no_memory), 2);
  CHECK_EQ(first[99], 1);
  return 0;
}
