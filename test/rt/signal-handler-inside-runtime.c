// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler that interrupts the runtime may allocate without
// deadlock or corruption. Each event of the handler is counted or reported as
// lost. (The handler must not interrupt malloc, because no profiler can make
// that safe.)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run{heap_rate=1:format=1:log_path=out.%%p} %t > counts
// RUN: sed -n 's/^# reentrant = /reentrant: /p' out.*.heap.txt >> counts
// RUN: awk '{ n[$1] = $2 } END { print n["handled:"], n["counted:"], \
// RUN:   n["reentrant:"]; exit n["handled:"] != n["counted:"] + \
// RUN:   n["reentrant:"] || n["reentrant:"] == 0 }' counts

#include "interrupt_reads.h"

static void *volatile sink;
static volatile sig_atomic_t handled;

static void handler(int sig) {
  (void)sig;
  sink = malloc(501);
  free(sink);
  handled++;
}

int main(void) {
  interrupt_reads(handler, &handled);
  struct counted c = counted_of(501);
  CHECK(c.allocs == c.frees);
  printf("handled: %d\ncounted: %llu\n", (int)handled, c.allocs);
  return 0;
}
