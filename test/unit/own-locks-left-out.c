// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: contention for MProf's own locks is not in the mutex profile. The
// report says how long threads waited for them.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && rm -f %t.log.*
// RUN: env MPROF_OPTIONS=report=1:symbolize=0:log_path=%t.log %t
// RUN: cat %t.log.*.txt | FileCheck %s

#define TEST_OPTIONS "mutex_fraction=1"

#include "core.h"

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "sys/lock.h"

#include <pthread.h>
#include <unistd.h>

// CHECK: mutex profile
// CHECK: Total: {{.*}} in 1 contention, 1 stack{{$}}
// CHECK-NEXT: Profiler: {{.*}} for MProf's own locks, which are not in the profile
// CHECK: SUMMARY: MProf: mutex: 1 contentions, {{.*}} 1 stacks
static struct mprof_lock own = MPROF_LOCK_INIT(MPROF_RANK_REGISTRY);

static void *take(void *arg) {
  mprof_guard_enter();
  mprof_lock_acquire(&own);
  mprof_lock_release(&own);
  mprof_guard_leave();
  return arg;
}

int main(void) {
  pthread_t t;
  mprof_guard_enter();
  const mprof_pc stack[] = {(mprof_pc)main + 1};
  struct mprof_bucket_key key = {.stack = stack,
                                 .stack_len = 1,
                                 .type = MPROF_BUCKET_MUTEX,
                                 .kind = MPROF_KIND_mutex};
  mprof_mutex_add(mprof_bucket_get(&key, true), 1000000, 1);
  mprof_lock_acquire(&own);
  mprof_guard_leave();
  CHECK_EQ(pthread_create(&t, NULL, take, NULL), 0);
  while (atomic_load(&own.waiting) >> 48 == 0)
    usleep(100);
  mprof_guard_enter();
  mprof_lock_release(&own);
  mprof_guard_leave();
  CHECK_EQ(pthread_join(t, NULL), 0);
  CHECK(mprof_lock_wait_ticks() > 0);
  return 0;
}
