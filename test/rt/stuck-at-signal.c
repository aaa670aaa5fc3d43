// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with dump_on_signal, a signal that writes the files may interrupt a
// stuck thread. The report still shows this thread as waiting and stuck. The
// test has a deadlock of two mutexes, a join with a deadlocked thread, and a
// wait for a semaphore that nobody can post.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: for c in cycle join; do \
// RUN:   not --crash %run{stuck=1:dump_on_signal=TERM:format=1:log_path=$c} \
// RUN:   timeout 600 ./app $c || exit 1; done
// A word in memory may equal the semaphore's address by chance. The semaphore
// then counts as reachable, so the test has five tries.
// RUN: for i in 1 2 3 4 5; do rm -f sem.*; \
// RUN:   not --crash %run{stuck=1:dump_on_signal=TERM:format=1:log_path=sem} \
// RUN:   timeout 600 ./app sem || exit 1; \
// RUN:   ! grep 'leak: 2 threads' sem.*[0-9].txt || break; done
// RUN: FileCheck %s --check-prefix=CYCLE < cycle.*[0-9].txt
// RUN: FileCheck %s --check-prefix=JOIN < join.*[0-9].txt
// RUN: FileCheck %s --check-prefix=SEM < sem.*[0-9].txt
//
// CYCLE: Cycle 1 of 1: 2 threads wait for one another
// CYCLE: for mutex {{.*}}, held by thread
// CYCLE: for mutex {{.*}}, held by thread
// CYCLE: SUMMARY: MProf: threadleak: 3 threads, 3 certain, 0 likely, 1 cycles
//
// JOIN: These threads wait for a stuck thread
// JOIN: for the end of thread
// JOIN: SUMMARY: MProf: threadleak: 3 threads, 3 certain, 0 likely, 1 cycles
//
// SEM: for semaphore
// SEM: SUMMARY: MProf: threadleak: 2 threads, 0 certain, 2 likely, 0 cycles

#include "deadlock.h"

#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

static void *wait_at_sem(void *tid) {
  sem_t *sem = calloc(1, sizeof(*sem));
  void *volatile next = malloc(100); // lies between sem and malloc's top chunk
  (void)next;
  sem_init(sem, 0, 0);
  about_to_wait(tid);
  sem_wait(sem);
  return tid;
}
// Ends the process when the first thread joins and the others wait.
struct end {
  pthread_t whom;
  int sleepers;
};
static void *end_it(void *arg) {
  const struct end *e = arg;
  for (int i = 0; i < e->sleepers; i++)
    until_sleeps(&tids[i]);
  until_sleeps(&tids[2]);
  NEED(pthread_kill(e->whom, SIGTERM) == 0);
  for (;;) // the signal ends the process
    sleep(60);
}

int main(int argc, char **argv) {
  static struct end end = {.sleepers = 1};
  pthread_t third;
  NEED(argc == 2);
  const char kind = argv[1][0];
  if (kind == 'c' || kind == 'j') {
    end.sleepers = 2;
    init_deadlock();
    create_waiter(0, a_then_b);
    create_waiter(1, b_then_a);
  } else {
    create_waiter(0, wait_at_sem);
  }
  end.whom = kind == 'j' ? pthread_self() : threads[0];
  NEED(pthread_create(&third, NULL, end_it, &end) == 0);
  about_to_wait(&tids[2]);
  pthread_join(threads[0], NULL);
  return 0;
}
