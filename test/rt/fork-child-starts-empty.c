// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a forked child starts with an empty profile and writes a file of its
// own. The parent's profile does not change. A fork while other threads
// allocate causes no deadlock.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1} ./app
// RUN: ls mprof.app.*.heap.pb.gz | wc -l | grep -qx 51
// RUN: ls mprof.app.*.txt | wc -l | grep -qx 51

#include "records.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;
static _Thread_local void *volatile mine;
static volatile int done;

static void *churn(void *arg) {
  while (!done) {
    for (size_t i = 0; i < 100; i++)
      free(mine = malloc(1000 + i));
  }
  return arg;
}

int main(void) {
  pthread_t t[2];
  void *volatile inherited = malloc(601);
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], NULL, churn, NULL);
  for (int i = 0; i < 50; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      EXPECT(601, 0, 0, 0);
      free(inherited); // its parent's block: unknown here
      sink = malloc(602);
      EXPECT(602, 1, 1, 0);
      return 0;
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  done = 1;
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], NULL);
  EXPECT(601, 1, 1, 0);
  EXPECT(602, 0, 0, 0);
  return 0;
}
