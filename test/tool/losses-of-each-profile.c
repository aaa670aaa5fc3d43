// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: truncated stacks of allocations are a loss of the profiles of the
// heap, and truncated stacks of waits one of the profiles of waits. mprof says
// it under these profiles only, and mprof run says each loss once. The row
// [truncated] is not explained as a file without names.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %mprof run -o heap -O stack_depth=8 --heap-rate=1 --block --stuck ./app heap \
// RUN:   2> heap.err && FileCheck %s --check-prefix=ONCE < heap.err
// ONCE: inuse_space of ./app heap, at the peak
// ONCE: [truncated]
// ONCE: lost: {{[0-9]+}} sample{{s?}} whose stack is truncated because it has more frames
// ONCE-NOT: a file without names
// ONCE-NOT: lost:
// ONCE: inuse_space of ./app heap, at exit
// ONCE-NOT: lost:
// RUN: for f in heap peak; do %mprof top heap/*.$f.pb.gz | grep '^lost: .* samples\? whose' || exit 1; done
// RUN: for f in block threadleak; do %mprof traces heap/*.$f.pb.gz | not grep lost: || exit 1; done
//
// RUN: %mprof run -o wait -O stack_depth=8 --heap-rate=1 --block ./app wait \
// RUN:   2> wait.err && FileCheck %s --check-prefix=WAIT < wait.err
// WAIT: inuse_space of ./app wait
// WAIT-NOT: lost:
// WAIT: block profile: who waited
// WAIT: lost: 1 wait or contended unlock whose stack is truncated

#include "check.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *volatile kept, *volatile freed;
static sem_t never_posted;

static int wait_a_moment(void) {
  struct timespec until;
  CHECK_EQ(clock_gettime(CLOCK_REALTIME, &until), 0);
  until.tv_sec += (until.tv_nsec += 1000000) >= 1000000000;
  until.tv_nsec %= 1000000000;
  return sem_timedwait(&never_posted, &until);
}

// Calls itself, so that the stack is deeper than stack_depth.
__attribute__((noinline)) static int deep(int calls, int waits) {
  if (calls == 0) {
    if (waits)
      return wait_a_moment();
    kept = malloc(1000);
    return 0;
  }
  const int result = deep(calls - 1, waits);
  __asm__ volatile("" ::: "memory"); // no tail call
  return result;
}

int main(int argc, char **argv) {
  const int waits = argc > 1 && strcmp(argv[1], "wait") == 0;
  if (waits)
    kept = malloc(1000);
  else
    wait_a_moment();
  freed = malloc(10);
  deep(40, waits);
  free(freed);
  return 0;
}
