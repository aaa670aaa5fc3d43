// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread posts a semaphore, takes the unit back before the waiting
// thread gets it, and posts again. The trace shows the second post as the waker
// of the waiting thread. This must hold in at least 95 percent of the rounds in
// which the unit was taken back.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -g1 -I%src/include \
// RUN:   -I%src/test/Inputs %s -o taken
// RUN: %run_quiet ./taken x.trace > rounds
// RUN: %trace_check -q x.trace
// RUN: %trace_print x.trace > text
// RUN: taken=$(cat rounds) && woken=$(grep -c 'GoUnblock.* post_y' text) && \
// RUN:   test $taken -ge 1 && test $((woken * 100)) -ge $((taken * 95))

#include "sync-observe.h"

#include <mprof/mprof.h>
#include <sched.h>
#include <semaphore.h>

enum { ROUNDS = 100 };
static sem_t semaphore, done;
static pid_t tid; // of the waiting thread

// Keeps this thread from preempting the thread that posts, which is on the same
// processor.
static void let_others_go_on(void) {
  const struct sched_param none = {0};
  sched_setscheduler(0, SCHED_BATCH, &none);
}

static void stay_here(void) {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET((size_t)sched_getcpu(), &here);
  sched_setaffinity(0, sizeof(here), &here);
}

static void *wait_for_posts(void *arg) {
  let_others_go_on();
  about_to_wait(&tid);
  for (int i = 0; i < ROUNDS; i++) {
    sem_wait(&semaphore);
    sem_post(&done);
  }
  return arg;
}

__attribute__((noinline)) static void post_x(void) { sem_post(&semaphore); }
__attribute__((noinline)) static void post_y(void) { sem_post(&semaphore); }

int main(int argc, char **argv) {
  const struct timespec now = {0, 0};
  int taken = 0;
  pthread_t thread;
  if (argc != 2)
    return 1;
  sem_init(&semaphore, 0, 0);
  sem_init(&done, 0, 0);
  if (mprof_trace_start(argv[1]) != 0)
    return 1;
  stay_here();
  pthread_create(&thread, NULL, wait_for_posts, NULL);
  for (int i = 0; i < ROUNDS; i++) {
    until_waits_for(&tid, &semaphore, sizeof(semaphore));
    post_x();
    if (sem_timedwait(&semaphore, &now) == 0) { // before the other thread
      taken++;
      until_waits_for(&tid, &semaphore, sizeof(semaphore)); // again
      post_y();
    }
    sem_wait(&done);
  }
  pthread_join(thread, NULL);
  printf("%d\n", taken);
  return mprof_trace_stop();
}
