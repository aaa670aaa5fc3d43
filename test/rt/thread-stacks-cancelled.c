// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads that are cancelled while their stacks are taken end, and the
// thread that takes the stacks goes on. The threads wait in code that was built
// without MProf, so they are asked by a signal.
//
// RUN: %clang -O1 -DWAITS -c %s -o %t.o
// RUN: %mprof_clang -fmprof -O1 %s %t.o -pthread -o %t
// RUN: %run_quiet{threads=1} timeout 300 %t
// RUN: %run_quiet{threads=1:threads_stop=1} timeout 300 %t

#include <semaphore.h>

void wait_forever(void);

#ifdef WAITS
static sem_t never;

void wait_forever(void) {
  for (;;)
    sem_wait(&never);
}
#else
#include "mprof/mprof.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8, TURNS = 60, TAKES = 20 };

static int begun, is_over;
static unsigned long taken;
static unsigned long seen; // frames of wait_forever; of the taking thread

static void *wait_in_turn(void *arg) {
  (void)arg;
  __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
  wait_forever();
  return NULL;
}

static void *take(void *arg) {
  static struct mprof_stack_record records[100];
  (void)arg;
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
    size_t n = 0;
    if (mprof_thread_profile(records, 100, &n) != 0)
      abort();
    for (size_t i = 0; i < n && i < 100; i++)
      for (int k = 0; k < MPROF_RECORD_STACK; k++)
        seen += records[i].stack0[k] - (uintptr_t)wait_forever < 64;
    __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void await(unsigned long number) {
  while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < number)
    usleep(50);
}

int main(void) {
  pthread_t taker, threads[THREADS];
  pthread_create(&taker, NULL, take, NULL);
  for (int turn = 0; turn < TURNS; turn++) {
    begun = 0;
    for (int i = 0; i < THREADS; i++)
      pthread_create(&threads[i], NULL, wait_in_turn, NULL);
    while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < THREADS)
      usleep(50);
    await(__atomic_load_n(&taken, __ATOMIC_RELAXED) + TAKES * (turn % 3 > 0));
    usleep((useconds_t)rand() % 1000);
    for (int i = 0; i < THREADS; i++)
      pthread_cancel(threads[i]);
    for (int i = 0; i < THREADS; i++)
      pthread_join(threads[i], NULL);
  }
  is_over = 1;
  pthread_join(taker, NULL);
  return seen == 0;
}
#endif
