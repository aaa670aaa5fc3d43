// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the processor time of a thread that blocks the signal of the CPU
// profile is not shown at the place where it unblocks the signal, but in a
// frame of its own: if it unblocks the signal later, if it ends, and if it
// never does, also in the main thread. A profile meanwhile has this time, too,
// but only once.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x:cpu_rate=100} ./app > truth
// RUN: %python %src/test/Inputs/cpu_check.py x.*.cpu.pb.gz truth
// RUN: %python %src/test/Inputs/mprof_read.py --by-function "[signal blocked]" \
// RUN:   x.*.cpu.pb.gz | FileCheck %s
//
// CHECK: flat [signal blocked]: samples={{1[6-9][0-9]|2[0-9][0-9]}}

#include <mprof/mprof.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

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
    CHECK_EQ(mprof_write_profile("cpu", "meanwhile.pb.gz", 0), 0);
  if (unblocks)
    NEED(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
  return NULL;
}

static atomic_int stays;

static void *stay(void *unused) {
  run(unused);
  stays = 1;
  for (;;)
    pause();
}

int main(void) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, run, &t) == 0);
  NEED(pthread_join(t, NULL) == 0);
  NEED(pthread_create(&t, NULL, run, NULL) == 0);
  NEED(pthread_join(t, NULL) == 0);
  NEED(pthread_create(&t, NULL, stay, NULL) == 0);
  while (!stays)
    usleep(1000);
  open(300);
  run(&t); // unblocks it after the profile that run has written
  run(NULL);
  PRINT_TRUTH(open);
  print_total();
  return 0;
}
