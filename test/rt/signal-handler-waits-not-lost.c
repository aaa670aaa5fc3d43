// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a blocking call of a handler that interrupts the runtime itself is
// reported as a lost event only if a profile or the trace would show the call.
// With threads=1 each call is reported to the runtime, but no profile counts
// it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{threads=1:format=1:log_path=quiet} timeout 120 ./app
// RUN: cat quiet.*.heap.txt | FileCheck %s --check-prefix=NONE
// RUN: %run{threads=1:block_rate=1:block_kinds=all:format=1:log_path=all} \
// RUN:   timeout 120 ./app
// RUN: cat all.*.heap.txt | FileCheck %s --check-prefix=LOST
//
// NONE-NOT: # reentrant = {{[0-9]}}
// LOST: # reentrant = {{[1-9]}}

#include "records.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void *volatile sink;
static volatile sig_atomic_t handled;
static int null;

static void handler(int sig) {
  (void)sig;
  handled += write(null, "x", 1) == 1;
}

int main(void) {
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handler;
  NEED((null = open("/dev/null", O_WRONLY)) >= 0);
  sigaction(SIGALRM, &sa, NULL);
  // A large profile, so that most signals come while it is read.
  for (size_t i = 0; i < 3000; i++)
    free(sink = malloc(10000 + i));
  struct itimerval every = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &every, NULL);
  size_t n;
  while (handled < 500)
    mprof_mem_profile(NULL, 0, 1, &n), mprof_cycle_post_sweep();
  memset(&every, 0, sizeof(every));
  setitimer(ITIMER_REAL, &every, NULL);
  return 0;
}
