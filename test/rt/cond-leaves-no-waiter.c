// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: one condition is signalled and broadcast while waits for it time out.
// Afterwards no thread is left in the runtime's table of waiters, neither for
// the condition nor for its mutex. Otherwise later unlocks would be charged for
// threads that no longer wait.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t

#include "waited.h"

enum { WAITERS = 8, WAKERS = 4, ROUNDS = 3000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int is_over;

static void wait_often(void *arg) {
  const int64_t ns = (int64_t)(uintptr_t)arg;
  pthread_mutex_lock(&mutex);
  while (!is_over) {
    const struct timespec t = after_ns_on(CLOCK_REALTIME, ns);
    pthread_cond_timedwait(&cond, &mutex, &t);
  }
  pthread_mutex_unlock(&mutex);
}

static void wake_often(void *arg) {
  const int which = (int)(uintptr_t)arg;
  for (int i = 0; i < ROUNDS; i++) {
    const int locks = (i + which) % 2;
    if (locks)
      pthread_mutex_lock(&mutex);
    if (which == 0 && i % 8 == 0)
      pthread_cond_broadcast(&cond);
    else
      pthread_cond_signal(&cond);
    if (locks)
      pthread_mutex_unlock(&mutex);
  }
}

int main(void) {
  struct thread waiters[WAITERS], wakers[WAKERS];
  for (int i = 0; i < WAITERS; i++)
    start(&waiters[i], wait_often, (void *)(uintptr_t)(20000 * (i + 1)));
  for (int i = 0; i < WAKERS; i++)
    start(&wakers[i], wake_often, (void *)(uintptr_t)i);
  for (int i = 0; i < WAKERS; i++)
    finish(&wakers[i]);
  pthread_mutex_lock(&mutex);
  is_over = 1;
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < WAITERS; i++)
    finish(&waiters[i]);
  for (int i = 0; i < 1024; i++)
    if ((__mprof_waiters[i] & ~WAITED_FLAGS) != 0) {
      fprintf(stderr, "slot %d: somebody is left: %#x\n", i,
              __mprof_waiters[i]);
      return 1;
    }
  return 0;
}
