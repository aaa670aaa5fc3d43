// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: MProf's own contended locks do not fill the mutex section of the
// report, however long threads waited for them. The section lists the locks of
// the program, and has the sum of the others.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && rm -f %t.log.*
// RUN: env MPROF_OPTIONS=report=1:report_top=2:symbolize=0:log_path=%t.log %t
// RUN: cat %t.log.*.txt | FileCheck %s

#define TEST_OPTIONS "mutex_fraction=1"

#include "core.h"

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"

// CHECK: mutex profile
// CHECK: Total: {{.*}} in 1 contention, 1 stack{{$}}
// CHECK-NEXT: Profiler: {{.*}} in 5 contentions, {{.*}} MProf's own locks
// CHECK: 1. {{.*}} in 1 contention, 100.0%
// CHECK-NEXT: mutex
// CHECK-NOT: {{^2[.] }}
// CHECK: SUMMARY: MProf: mutex: 6 contentions, {{.*}} 6 stacks
static void add(mprof_pc pc, enum mprof_kind kind, uint64_t cycles) {
  const mprof_pc stack[] = {pc, (mprof_pc)add + 1};
  struct mprof_bucket_key key = {.stack = stack,
                                 .stack_len = 2,
                                 .type = MPROF_BUCKET_MUTEX,
                                 .kind = (uint8_t)kind};
  mprof_guard_enter();
  struct mprof_bucket *b = mprof_bucket_get(&key, true);
  CHECK(b != NULL);
  mprof_mutex_add(b, cycles, 1);
  mprof_guard_leave();
}

int main(void) {
  for (uintptr_t i = 0; i < 5; i++)
    add((mprof_pc)add + 2 + i, MPROF_KIND_own, 1000000000);
  add((mprof_pc)main + 1, MPROF_KIND_mutex, 1000000);
  return 0;
}
