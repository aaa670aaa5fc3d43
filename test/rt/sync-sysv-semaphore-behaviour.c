// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: semop and semtimedop behave with MProf as without it. Their results,
// data and errno do not differ. This also holds if the program is compiled with
// _FORTIFY_SOURCE.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: %mprof_clang -fmprof -O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 \
// RUN:   -pthread -I%src/test/Inputs %s -o checked
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./checked > checked.txt
// RUN: diff plain.txt checked.txt
//
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <sys/ipc.h>
#include <sys/sem.h>

static int semaphores = -1;

static void semop_one(void *who) {
  struct sembuf take = {0, -1, 0};
  SHOW_NUMBER_AS(who, semop(semaphores, &take, 1));
}
static void semtimedop_one(void *who) {
  struct sembuf take = {0, -1, 0};
  SHOW_NUMBER_AS(who, semtimedop(semaphores, &take, 1, &minute));
}

static void use_semaphores(void) {
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  if (semaphores < 0) {
    say("semget: errno %s", error_name(errno));
    return;
  }
  struct sembuf give = {0, 2, 0}, take = {0, -1, 0}, try = {0, -1, IPC_NOWAIT};
  struct timespec soon = {0, 10000000};
  SHOW_NUMBER(semop(semaphores, &give, 1));
  SHOW_NUMBER(semop(semaphores, &take, 1));
  SHOW_NUMBER(semtimedop(semaphores, &take, 1, &soon));
  SHOW_NUMBER(semtimedop(semaphores, &take, 1, &soon));
  SHOW_NUMBER(semtimedop(semaphores, &take, 1, &negative));
  SHOW_NUMBER(semop(semaphores, &try, 1));
  SHOW_NUMBER(semop(-1, &take, 1));
  handle_with(SA_RESTART); // does not restart these calls
  interrupt(semop_one, SYS_semtimedop);
  interrupt(semtimedop_one, SYS_semtimedop);
  struct thread t;
  start(&t, semop_one, "waited");
  until_blocked(t.tid, SYS_semtimedop, NULL, 0);
  give.sem_op = 1;
  NEED(semop(semaphores, &give, 1) == 0);
  finish(&t);
  NEED(semctl(semaphores, 0, IPC_RMID) == 0);
}

int main(void) {
  use_semaphores();
  say("end");
  return 0;
}
