// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stack of a fiber is complete in the profiles of waits and
// threads, too: in the block and mutex profiles, and in the stack of another
// thread that waits or runs on a fiber's stack. None of them has a frame of the
// function that has resumed the fiber.
//
// The test switches stacks by instructions of x86-64.
// REQUIRES: x86_64
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in "-O1 -fmprof-unwind=tables" "-O2 -fmprof-unwind=frames"; do \
// RUN:   for kind in LIBCO UCONTEXT; do \
// RUN:     %mprof_clang -fmprof -g1 $flags -D$kind -I%src/test/Inputs %s -o app && \
// RUN:     for stop in 0 1; do rm -f out.* && \
// RUN:       %run{block_rate=1:mutex_fraction=1:threads=1:threads_stop=$stop:log_path=out.%%p} \
// RUN:         ./app > text && grep -v '^\s' text > stacks && \
// RUN:       FileCheck --check-prefix=WAITING %s < stacks && \
// RUN:       FileCheck --check-prefix=RUNNING %s < stacks && \
// RUN:       FileCheck --check-prefix=BLOCK %s < out.*.txt && \
// RUN:       FileCheck --check-prefix=MUTEX %s < out.*.txt && \
// RUN:       not grep -qi "truncated\|without frame" out.*.txt text || \
// RUN:       { echo "$kind, $flags, threads_stop $stop"; exit 1; }; done; done; done
// WAITING: [pthread_mutex_lock]
// WAITING-NEXT: pthread_mutex_lock
// WAITING-NEXT: locks
// WAITING-NEXT: fiber_main
// WAITING-NEXT: created by main
// RUNNING: {{^}}spins
// RUNNING-NEXT: fiber_main
// RUNNING-NEXT: created by main
// BLOCK-LABEL: Where threads waited
// BLOCK: in pthread_mutex_lock
// BLOCK-NEXT: in locks
// BLOCK-NEXT: in fiber_main
// BLOCK-EMPTY:
// MUTEX-LABEL: Which unlocks ended waits
// MUTEX: in pthread_mutex_unlock
// MUTEX-NEXT: in unlocks
// MUTEX-NEXT: in fiber_main
// MUTEX-EMPTY:

#define _GNU_SOURCE
#include "fibers.h"
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <pthread.h>
#include <sys/mman.h>

enum { STACK = 65536 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t waiter;
static volatile int spins_now, may_end;

static void locks(void *unused) {
  (void)unused;
  about_to_wait(&waiter);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

static void spins(void *unused) {
  (void)unused;
  for (spins_now = 1; !may_end;)
    ;
}

static void unlocks(void *unused) {
  (void)unused;
  pthread_mutex_unlock(&mutex);
}

// Runs a function in a fiber, whose stack is unmapped at the end.
__attribute__((noinline)) static void *in_fiber(void *run) {
  struct fiber f;
  void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(stack != MAP_FAILED);
  fiber_make(&f, stack, STACK, (void (*)(void *))run, NULL);
  fiber_resume(&f);
  NEED(f.has_ended && munmap(stack, STACK) == 0);
  return NULL;
}

int main(void) {
  static char text[1 << 20];
  pthread_t waits, runs;
  pthread_mutex_lock(&mutex);
  NEED(pthread_create(&waits, NULL, in_fiber, (void *)locks) == 0);
  NEED(pthread_create(&runs, NULL, in_fiber, (void *)spins) == 0);
  until_waits_in(&waiter, SYS_futex);
  while (!spins_now)
    usleep(1000);
  mprof_stack(text, sizeof(text), 1);
  puts(text);
  may_end = 1;
  in_fiber((void *)unlocks);
  pthread_join(waits, NULL);
  pthread_join(runs, NULL);
  return 0;
}
