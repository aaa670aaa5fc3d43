// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the trace shows the ending thread as the waker of the thread that
// joins it. The stack of this wake-up is the function that the ending thread
// ran.
//
// REQUIRES: go-1.23
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: %go tool trace -d=parsed %t.trace | FileCheck %s
//
// CHECK: G=1 StateTransition {{.*}}GoID=1 Running->Waiting
// CHECK: main
// CHECK: G=2 StateTransition {{.*}}GoID=1 Waiting->Runnable
// CHECK-NEXT: Stack=
// CHECK-NEXT: sleeper
// CHECK: G=2 StateTransition {{.*}}GoID=2 Running->NotExist

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>

static void *sleeper(void *arg) {
  until_main_waits(NULL, 0);
  return arg;
}

int main(int argc, char **argv) {
  pthread_t t;
  if (argc != 2 || mprof_trace_start(argv[1]) != 0 ||
      pthread_create(&t, NULL, sleeper, NULL) != 0)
    return 1;
  pthread_join(t, NULL);
  return mprof_trace_stop();
}
