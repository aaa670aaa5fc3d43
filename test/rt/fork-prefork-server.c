// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a server forks 1,000 children while its threads allocate. No child
// hangs. Each child counts exactly the blocks that it has allocated and freed
// itself. The first 100 children write a file each, with these counts. The
// parent's profile has none of the children's blocks.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:report=0:format=1:symbolize=0} timeout 600 ./app 2> err
// RUN: ls mprof.app.*.heap.txt | wc -l | grep -qx 101
// RUN: grep -l '^0: 0 \[400: 240800\]' mprof.app.*.heap.txt | wc -l | grep -qx 100
// RUN: grep -l '^0: 0 \[100: 60200\]' mprof.app.*.heap.txt | wc -l | grep -qx 100
// RUN: grep -l '^7: 4221 \[7: 4221\]' mprof.app.*.heap.txt | wc -l | grep -qx 100
// RUN: not grep 'reentrant\|stale' err

#include "records.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, CHILDREN = 100, ROUNDS = 900 };

static _Thread_local void *volatile mine;
static volatile int done;

// Uses new stacks and sizes all the time, so that forks interrupt every kind of
// change to the tables.
static void *churn(void *arg) {
  for (size_t n = (size_t)arg; !done; n++) {
    mine = malloc(10000 + n % 20000);
    if (n % 512 == 0)
      mprof_next_cycle(), mprof_cycle_flush();
    free(mine);
  }
  return NULL;
}

static void *work(void *arg) {
  for (int i = 0; i < 100; i++)
    free(mine = malloc(602));
  return arg;
}

static void serve(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, work, NULL);
  work(NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  for (int i = 0; i < 7; i++)
    mine = malloc(603);
  struct counted c = counted_of(602);
  CHECK(c.allocs == 500 && c.frees == 500);
  c = counted_of(603);
  CHECK(c.allocs == 7 && c.frees == 0);
}

static void join(pid_t pid) {
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void) {
  pthread_t t[THREADS];
  pid_t children[CHILDREN];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, churn, (void *)(i * 5000L));
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      serve();
      return 0;
    }
  }
  for (int i = 0; i < CHILDREN; i++)
    join(children[i]);
  for (int i = 0; i < ROUNDS; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      free(mine = malloc(602));
      struct counted c = counted_of(602);
      _exit(c.allocs != 1 || c.frees != 1);
    }
    join(pid);
  }
  done = 1;
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  EXPECT(602, 0, 0, 0);
  return 0;
}
