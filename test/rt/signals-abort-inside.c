// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler that interrupts the profiler and calls abort ends
// the process by SIGABRT, as without MProf. This holds even with
// dump_on_signal=ABRT, which writes a profile at SIGABRT.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o app
// RUN: for ms in 20 25 30; do \
// RUN:   %run{dump_on_signal=ABRT} ./app $ms && exit 1 || \
// RUN:   test $? = 134 || exit 1; done

#include <mprof/mprof.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>

static void give_up(int sig) {
  (void)sig;
  abort();
}

static void *volatile sink;

int main(int argc, char **argv) {
  const struct rlimit no_core = {0, 0};
  const long us = argc > 1 ? atol(argv[1]) * 1000 : 0;
  setrlimit(RLIMIT_CORE, &no_core);
  for (int i = 0; i < 1000; i++)
    sink = malloc(1000);
  signal(SIGALRM, give_up);
  const struct itimerval when = {{0, 0}, {0, us}};
  setitimer(ITIMER_REAL, &when, NULL);
  for (;;)
    mprof_write_profile("heap", "heap.pb.gz", 0);
}
