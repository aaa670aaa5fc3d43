// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the processor time of a thread that blocks the signal of the CPU
// profile is not shown at the place where it unblocks the signal, but in a
// frame of its own: if it unblocks the signal later, and if it ends.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x:cpu_rate=100} ./app > truth
// RUN: %python %src/test/Inputs/cpu_check.py x.*.cpu.pb.gz truth
// RUN: %python %src/test/Inputs/mprof_read.py --by-function "[signal blocked]" \
// RUN:   x.*.cpu.pb.gz | FileCheck %s
//
// CHECK: flat [signal blocked]: samples={{[0-9][0-9]}}

#include <pthread.h>
#include <signal.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(blocked)
BURNER(open)

static void *run(void *unblocks) {
  sigset_t all, before;
  sigfillset(&all);
  NEED(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
  blocked(400);
  if (unblocks)
    NEED(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
  return NULL;
}

int main(void) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, run, &t) == 0);
  NEED(pthread_join(t, NULL) == 0);
  NEED(pthread_create(&t, NULL, run, NULL) == 0);
  NEED(pthread_join(t, NULL) == 0);
  open(300);
  PRINT_TRUTH(open);
  print_total();
  return 0;
}
