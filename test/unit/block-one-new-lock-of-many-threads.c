// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if many threads begin to wait for the same new lock at one stack at
// once, they all get the bucket of this lock, and a later lock still gets a
// bucket of its own.
//
// RUN: %unit -D_GNU_SOURCE -I%src/test/Inputs %s %rtlib -o %t && %t

#include "bucket/bucket.h"
#include "lock_wait/hooked.h"
#include "process/process.h"

#include "core.h"
#include "sync-observe.h"

#include <pthread.h>

enum { THREADS = MPROF_LOCKS_PER_STACK + 8 };
static struct mprof_bucket *got[THREADS];
static _Atomic pid_t tids[THREADS];

static struct mprof_bucket *make(uintptr_t lock) {
  static const mprof_pc stack[] = {0x10000, 0x2000};
  const struct mprof_bucket_key key = {.stack = stack,
                                       .stack_len = 2,
                                       .type = MPROF_BUCKET_BLOCK,
                                       .kind = MPROF_KIND_mutex,
                                       .object = lock,
                                       .rate = 1};
  mprof_guard_enter();
  struct mprof_bucket *b = mprof_bucket_make(&key, NULL);
  mprof_guard_leave();
  return b;
}

static void *work(void *arg) {
  const size_t i = (size_t)arg;
  tids[i] = own_tid();
  got[i] = make(0x100000);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  CHECK(mprof_process_ready());
  make(0); // the common bucket of the stack
  mprof_guard_enter();
  mprof_lock_acquire(&mprof_insert_lock);
  for (size_t i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, work, (void *)i), 0);
  for (size_t i = 0; i < THREADS; i++) {
    while (tids[i] == 0)
      pause_us(1000);
    until_blocked(tids[i], SYS_futex, NULL, 0);
  }
  mprof_lock_release(&mprof_insert_lock);
  mprof_guard_leave();
  for (size_t i = 0; i < THREADS; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(got[i]->object, 0x100000);
  }
  CHECK_EQ(make(0x200000)->object, 0x200000);
  return 0;
}
