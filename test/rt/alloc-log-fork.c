// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a forked child writes an allocation log of its own if the path of the
// log contains %p. Otherwise the child reports that it cannot log, and the
// parent's log has none of the child's blocks. The child does not have the
// parent's log file open. A thread of the parent logs events during the forks.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{heap_rate=1:alloc_log=x.%%p} ./app 2> err
// RUN: test $(ls x.* | wc -l) = 11
// RUN: for f in x.*; do %mprof log --no-names $f > out && \
// RUN:   ! grep note: out && grep -c ' 777 bytes' out; done \
// RUN:   | sort | uniq -c | grep -x ' *11 1'
// RUN: %run_quiet{heap_rate=1:alloc_log=y} ./app none 2> err
// RUN: grep -c "alloc_log: a forked child cannot log to its parent's file (put %%p in the path)" err | grep -x 10
// RUN: %mprof log --no-names y > out && grep ' 777 bytes' out
// RUN: not grep note: out
// RUN: not grep ' 888 bytes' out
// RUN: %run_quiet{heap_rate=1:alloc_log=z.%%p:follow_fork=0} ./app none 2> err
// RUN: test $(ls z.* | wc -l) = 1
// RUN: %mprof log --no-names z.* > out && not grep ' 888 bytes' out

#include "records.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept[2];
static _Thread_local void *volatile mine;
static int has_ended;

static void *churn(void *arg) {
  while (!__atomic_load_n(&has_ended, __ATOMIC_RELAXED))
    free(mine = malloc(10));
  return arg;
}

static int files_open(void) {
  int n = 0;
  for (int fd = 3; fd < 64; fd++) {
    struct stat st;
    n += fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
  }
  return n;
}

int main(int argc, char **argv) {
  const int logs_of_child = argc == 1;
  (void)argv;
  pthread_t t;
  void *volatile before = malloc(100);
  kept[0] = malloc(777);
  pthread_create(&t, NULL, churn, NULL);
  for (int i = 0; i < 10; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      kept[0] = malloc(777);
      kept[1] = malloc(888);
      CHECK(files_open() == logs_of_child);
      return 0;
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  has_ended = 1;
  pthread_join(t, NULL);
  free(before);
  return 0;
}
