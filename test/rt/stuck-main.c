// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the first thread can be found to be stuck, although libc and the
// runtime know addresses of its stack. It is stuck at a semaphore or condition
// on the heap that no other thread can reach. It is not stuck if another thread
// has the address of a local variable of main, and this variable leads to the
// semaphore.
//
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o %t
// RUN: export MPROF_OPTIONS=profile=0:report=0:stuck=1
// RUN: test "$(%t semaphore)" = 1
// RUN: test "$(%t condition)" = 1
// RUN: test "$(%t shared)" = 0

#include "gates.h"

#include <semaphore.h>

// Asks when main waits. The thread at the gate is stuck, too.
static void *ask(void *shared) {
  sem_t ***local = shared;
  until_main_waits(NULL, 0);
  apart(make_gate_and_forget, NULL);
  printf("%zu\n", count_stuck() - 1);
  fflush(stdout);
  if (local)
    sem_post(**local);
  _exit(0);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  sem_t *semaphore = calloc(1, sizeof(*semaphore));
  sem_t **local = &semaphore;
  pthread_cond_t *condition = calloc(1, sizeof(*condition));
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_t thread;
  void *volatile after = malloc(100); // before malloc's top chunk
  (void)after;
  pthread_create(&thread, NULL, ask,
                 strcmp(how, "shared") == 0 ? &local : NULL);
  if (strcmp(how, "condition") != 0)
    return sem_wait(semaphore);
  pthread_mutex_lock(&lock);
  for (;;)
    pthread_cond_wait(condition, &lock);
}
