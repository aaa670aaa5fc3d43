// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: MProf makes no system call at exit if all output is off or nothing
// was recorded. So a seccomp filter that kills the process for every system
// call but exit does not hurt the program.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: ./app
// RUN: %run_quiet{heap_rate=1:block_rate=1:mutex_fraction=1} ./app
// RUN: %run_quiet{heap_rate=1} ./app quick
// RUN: %run{dump_on__exit=1:profile=0:report=0:heap_rate=1} ./app _exit
// RUN: ls | wc -l | grep -qx 1

#include "records.h"
#include "refuse.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void *volatile sink;
static void *run(void *arg) { return arg; }

int main(int argc, char **argv) {
  pthread_t t;
  sink = malloc(100);
  if (getenv("MPROF_OPTIONS") != NULL)
    CHECK(pthread_create(&t, NULL, run, NULL) == 0 &&
          pthread_join(t, NULL) == 0);
  allow_only_the_end();
  if (argc > 1 && strcmp(argv[1], "quick") == 0)
    quick_exit(0);
  if (argc > 1)
    _exit(0);
  return 0;
}
