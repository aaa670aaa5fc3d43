// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread whose wait ends while threads are kept out of the runtime
// counts the wait only when it is let in again.
//
// RUN: %unit -D_GNU_SOURCE -I%src/test/Inputs %s %rtlib -o %t && %t

#define TEST_OPTIONS "block_rate=1"

#include "bucket/bucket.h"
#include "lock_wait/contention.h"
#include "process/process.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include "core.h"
#include "sync-observe.h"

#include <pthread.h>

static void op(void) {}
static _Atomic pid_t waiter;
static atomic_bool ends, has_ended;

static MPROF_NOINLINE void *wait_once(void *arg) {
  struct mprof_wait w;
  mprof_wait_begin(&w, MPROF_KIND_mutex, (uintptr_t)op,
                   (uintptr_t)__builtin_frame_address(0), 0x1000);
  waiter = own_tid();
  while (!ends)
    syscall(SYS_sched_yield);
  mprof_wait_end(&w, MPROF_GOT);
  has_ended = true;
  return arg;
}

static uint64_t counted(void) {
  uint64_t n = 0;
  for (struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_BLOCK); b;
       b = b->allnext)
    n += b->wait.count;
  return n / MPROF_COUNT_ONE;
}

int main(void) {
  pthread_t t;
  CHECK(mprof_process_ready());
  CHECK_EQ(pthread_create(&t, NULL, wait_once, NULL), 0);
  while (waiter == 0)
    pause_us(100);
  mprof_threads_keep_out(); // this thread, too
  ends = true;
  // The thread sleeps while its guard says that it is kept out.
  until_blocked(waiter, SYS_nanosleep, NULL, 0);
  CHECK(!has_ended);
  CHECK_EQ(counted(), 0);
  mprof_threads_let_in();
  CHECK_EQ(pthread_join(t, NULL), 0);
  CHECK_EQ(counted(), 1);
  return 0;
}
