// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: while MProf writes the files because a signal ends the process, a
// second signal ends the process at once, if it comes more than a second later.
//
// A thread holds the lock of the writers, because mprof does not
// answer. So the handler of the first signal waits for this lock.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: printf '#!/bin/sh\n: > begun\nexec sleep 100' > mprof
// RUN: chmod +x mprof
// RUN: %mprof_clang -fmprof -O1 -g -I%src/test/Inputs %s -o app -pthread
// RUN: %run{heap_rate=1:dump_on_signal=TERM:external_symbolizer_path=./mprof} \
// RUN:   timeout 600 %python %S/Inputs/end_twice.py 1.1 ./app 2> err
// RUN: not grep 'still writing' err

#include "records.h"

#include <pthread.h>
#include <unistd.h>

static void *volatile sink;

static void *write_names(void *arg) {
  mprof_write_profile("heap", "named.pb.gz", 0);
  return arg;
}

int main(void) {
  pthread_t t;
  sink = malloc(401);
  CHECK_EQ(pthread_create(&t, NULL, write_names, NULL), 0);
  while (access("begun", F_OK) != 0)
    usleep(1000);
  CHECK(write(1, "ready\n", 6) == 6);
  pthread_join(t, NULL);
  return 0;
}
