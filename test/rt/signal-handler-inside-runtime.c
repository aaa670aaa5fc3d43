// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a handler that allocates while it interrupts the runtime itself
// causes no deadlock and no corruption. Each of its events is counted, or
// reported as lost. (It must not interrupt malloc, which no profiler makes
// safe.)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run{heap_rate=1:format=1:log_path=out.%%p} %t > counts
// RUN: sed -n 's/^# reentrant = /reentrant: /p' out.*.heap.txt >> counts
// RUN: awk '{ n[$1] = $2 } END { print n["handled:"], n["counted:"], \
// RUN:   n["reentrant:"]; exit n["handled:"] != n["counted:"] + \
// RUN:   n["reentrant:"] || n["reentrant:"] == 0 }' counts

#include "records.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

static void *volatile sink;
static volatile sig_atomic_t handled;

static void handler(int sig) {
  (void)sig;
  sink = malloc(501);
  free(sink);
  handled++;
}

int main(void) {
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handler;
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
  struct counted c = counted_of(501);
  CHECK(c.allocs == c.frees);
  printf("handled: %d\ncounted: %llu\n", (int)handled, c.allocs);
  return 0;
}
