// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process that has recorded no waits writes its files without
// measuring the speed of the processor's time stamp counter. The measurement
// reads the time again and again for half a millisecond.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:dump_on_signal=WINCH:log_path=p} ./app
// RUN: ls p.*.20*T*.heap.pb.gz

#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long readings;

// The runtime reads the time by this function.
int clock_gettime(clockid_t id, struct timespec *time) {
  readings += id == CLOCK_MONOTONIC;
  return (int)syscall(SYS_clock_gettime, id, time);
}

static void *volatile sink;

int main(void) {
  enum { FIRST_USE = 10 }; // more than the first use of the clock reads
  sink = malloc(100);
  raise(SIGWINCH);
  CHECK(readings <= FIRST_USE);
  return 0;
}
