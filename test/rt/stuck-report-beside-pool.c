// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: stuck_report=1 finds a deadlock beside 1,000 idle threads, which wait
// for a condition all the time. Whether idle threads are stuck takes a long
// search of memory, because the program has much memory. MProf first checks
// only the recorded waits. If this check shows a deadlock, a search follows at
// once, and does not wait for the next search for the idle threads.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs -I%src/rt %s -o app \
// RUN:   -Wl,--whole-archive %rtlib -Wl,--no-whole-archive \
// RUN:   -Wl,--wrap=mprof_stuck_look,--wrap=mprof_stuck_take
// RUN: %run_quiet{stuck_report=1:log_path=x.%%p} timeout 600 ./app
// RUN: cat x.*.stuck.txt | FileCheck %s
//
// CHECK: Cycle 1 of 1: 2 threads wait for one another
// CHECK: has waited {{.*}} for mutex
// CHECK: SUMMARY: MProf: threadleak: 2 threads, 2 certain

#include "deadlock.h"

#include "stuck/stuck.h"

enum { IDLE = 1000, BLOCKS = 4096, BLOCK_BYTES = 65536 };

static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static void *blocks[BLOCKS];

// --- what the watch thread does ---

// mprof_stuck_look checks the recorded waits (a look), and mprof_stuck_take
// searches memory.
static bool is_shown;       // the last look showed a deadlock; no search since
static atomic_uint ignored; // looks that showed a deadlock, without a search
static atomic_uint found_unshown; // deadlocks that a search found, but no look
static atomic_uint searches, idle_looks; // idle_looks: since the last search

struct mprof_stuck_signs __real_mprof_stuck_look(uint64_t age);
struct mprof_stuck_signs __wrap_mprof_stuck_look(uint64_t age);
struct mprof_stuck_signs __wrap_mprof_stuck_look(uint64_t age) {
  ignored += is_shown;
  idle_looks++;
  const struct mprof_stuck_signs signs = __real_mprof_stuck_look(age);
  is_shown = signs.is_stuck;
  return signs;
}

int __real_mprof_stuck_take(struct mprof_stuck *g,
                            const struct mprof_caller *caller, uint64_t age);
int __wrap_mprof_stuck_take(struct mprof_stuck *g,
                            const struct mprof_caller *caller, uint64_t age);
int __wrap_mprof_stuck_take(struct mprof_stuck *g,
                            const struct mprof_caller *caller, uint64_t age) {
  const int error = __real_mprof_stuck_take(g, caller, age);
  // A search of the idle threads may find the deadlock first, if the deadlock
  // becomes old enough between a look and this search.
  if (error == 0 && g->stuck > 0 && !is_shown)
    found_unshown += !__real_mprof_stuck_look(age).is_stuck;
  is_shown = false;
  idle_looks = 0;
  searches++;
  return error;
}

// Waits until the watch has searched the idle threads and then leaves them
// alone.
static void until_idle_threads_are_judged(void) {
  while (searches == 0 || idle_looks < 2)
    usleep(10000);
}

static void *idle(void *arg) {
  pthread_mutex_lock(&pool);
  for (;;)
    pthread_cond_wait(&work, &pool);
  return arg;
}

int main(void) {
  pthread_t thread;
  for (int i = 0; i < BLOCKS; i++) {
    NEED((blocks[i] = malloc(BLOCK_BYTES)) != NULL);
    memset(blocks[i], 1, BLOCK_BYTES);
  }
  for (int i = 0; i < IDLE; i++)
    NEED(pthread_create(&thread, NULL, idle, NULL) == 0);
  until_idle_threads_are_judged();
  init_deadlock();
  create_waiter(0, a_then_b);
  create_waiter(1, b_then_a);
  until_reported();
  CHECK_EQ(ignored, 0);
  CHECK_EQ(found_unshown, 0);
  return 0;
}
