// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the system refuses memory to MProf, no address space is lost. When
// the system has memory again, the next allocation follows the last successful
// one, however often memory was refused.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "max_memory_mb=4"
#include "core.h"

#include "process/process.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"

int main(void) {
  CHECK(mprof_process_ready());
  CHECK(mprof_guard_enter());
  char *before = mprof_persistent_alloc(64);
  CHECK(before != NULL);
  const size_t used = mprof_persistent_used();
  for (int i = 0; i < 100; i++) {
    mprof_os_fail_map(1);
    CHECK(!mprof_persistent_alloc(1 << 20)); // more than is committed
  }
  mprof_os_fail_map(0);
  CHECK_EQ(mprof_persistent_used(), used);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_no_memory), 100);
  CHECK(mprof_persistent_alloc(64) == before + 64);
  CHECK(mprof_persistent_alloc(1 << 20) == before + 128);
  return 0;
}
