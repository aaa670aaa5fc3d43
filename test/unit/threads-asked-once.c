// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a collection of all stacks asks each running thread once, although it
// goes through all threads twice, and counts it once for the pauses of threads
// that compute.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t \
// RUN:   -Wl,--wrap=mprof_ask -Wl,--wrap=mprof_pause_asked
// RUN: %t

#include "core.h"

#include "lock_wait/contention.h"
#include "thread_stacks/thread_stacks.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { RUNNING = 3, ROUNDS = 10 };

static atomic_int begun;
static int tids[RUNNING], asked[RUNNING], counted[RUNNING];
static atomic_bool may_end;

static void count(int *counts, int tid) {
  for (int i = 0; i < RUNNING; i++)
    counts[i] += tids[i] == tid;
}

long __real_mprof_ask(int tid, unsigned round, unsigned slot);
long __wrap_mprof_ask(int tid, unsigned round, unsigned slot);
long __wrap_mprof_ask(int tid, unsigned round, unsigned slot) {
  count(asked, tid);
  return __real_mprof_ask(tid, round, slot);
}

bool __real_mprof_pause_asked(struct mprof_asked *a, int tid);
bool __wrap_mprof_pause_asked(struct mprof_asked *a, int tid);
bool __wrap_mprof_pause_asked(struct mprof_asked *a, int tid) {
  count(counted, tid);
  return __real_mprof_pause_asked(a, tid);
}

// The runtime sees no event of this thread.
static void *compute(void *arg) {
  tids[atomic_load(&begun)] = gettid();
  atomic_fetch_add(&begun, 1);
  while (!atomic_load(&may_end))
    ;
  return arg;
}

static void take(void) {
  struct mprof_thread_stacks s;
  mprof_guard_enter();
  CHECK_EQ(mprof_thread_stacks_take(&s, (uintptr_t)__builtin_frame_address(0),
                                    SIZE_MAX, false),
           0);
  CHECK_EQ(s.len, 1 + RUNNING);
  mprof_thread_stacks_free(&s);
  mprof_guard_leave();
}

int main(void) {
  pthread_t threads[RUNNING];
  mprof_contention.notes_from_start = true;
  for (int i = 0; i < RUNNING; i++) {
    pthread_create(&threads[i], NULL, compute, NULL);
    while (atomic_load(&begun) == i)
      sched_yield();
  }
  for (int round = 1; round <= ROUNDS; round++) {
    take();
    for (int i = 0; i < RUNNING; i++) {
      CHECK_EQ(asked[i], round);
      CHECK(counted[i] <= round);
    }
  }
  atomic_store(&may_end, true);
  for (int i = 0; i < RUNNING; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
