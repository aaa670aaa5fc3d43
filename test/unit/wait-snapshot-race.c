// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: profiles of waits and threads are taken, and locks are named, while
// threads begin, wait and end. There is no data race (the runtime is rebuilt
// with ThreadSanitizer). No profile has fewer waits than the profile before,
// and the last profile has all waits.
//
// UNSUPPORTED: unit-address, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rt_tsan -o %t && %t

#include "waits.h"

#include "lock_wait/hooked.h"
#include "mprof/mprof.h"
#include "sys/message.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <pthread.h>

enum { THREADS = 4, STACKS = 50, LOCKS = 4, EVENTS = 20000 };

static void *wait_often(void *arg) {
  size_t me = (size_t)arg;
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_guard_leave();
  for (size_t i = 0; i < EVENTS; i++) {
    uintptr_t lock = 0x1000 + (i + me) % LOCKS * 64;
    mprof_pc stack[] = {0x2000 + i % STACKS, 0x3000};
    count_waits(block_bucket(lock, stack, 2), 1, 10);
    if (i % 100 == 0)
      CHECK_EQ(mprof_name_lock((void *)lock, i % 200 == 0 ? "a" : NULL), 0);
  }
  return NULL;
}

static int64_t take(int64_t before) {
  static struct mprof_block_record records[STACKS];
  static struct mprof_stack_record threads[2 * THREADS];
  size_t n;
  int64_t sum = 0;
  CHECK_EQ(mprof_block_profile(records, STACKS, &n), 0);
  for (size_t i = 0; i < n; i++)
    sum += records[i].count;
  CHECK(sum >= before);
  CHECK_EQ(mprof_thread_create_profile(threads, 2 * THREADS, &n), 0);
  CHECK(n <= THREADS + 1);
  char text[128];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_guard_enter();
  mprof_lock_label(&t, 0x1040);
  mprof_guard_leave();
  CHECK(strcmp(text, "0x1040") == 0 || strcmp(text, "a (0x1040)") == 0);
  return sum;
}

int main(void) {
  waits_start();
  pthread_t t[THREADS];
  for (size_t i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, wait_often, (void *)i);
  int64_t sum = 0;
  for (int i = 0; i < 100; i++)
    sum = take(sum);
  for (size_t i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  CHECK_EQ(take(sum), (int64_t)THREADS * EVENTS);
  return 0;
}
