// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: while the block and the mutex profile are off, calls of locks and of
// blocking functions go to libc and not to the runtime. While a profile is on,
// only the calls of its kinds go to the runtime. This holds however the program
// is linked.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: rm -f %t.trace
// RUN: %run_quiet{block_kinds=sync} %t %t.trace
// RUN: %mprof_clang -fmprof -O2 -fno-pic -no-pie -I%src/test/Inputs %s -o %t
// RUN: rm -f %t.trace
// RUN: %run_quiet{block_kinds=sync} %t %t.trace
// RUN: %mprof_clang -fmprof -O2 -flto -fuse-ld=lld -Wl,--gc-sections -I%src/test/Inputs %s -o %t
// RUN: rm -f %t.trace
// RUN: %run_quiet{block_kinds=sync} %t %t.trace
// RUN: %mprof_clang -fmprof -O2 -flto=thin -fuse-ld=lld -I%src/test/Inputs %s -o %t
// RUN: rm -f %t.trace
// RUN: %run_quiet{block_kinds=sync} %t %t.trace
// RUN: %mprof_clang -fmprof -O0 -static -I%src/test/Inputs %s -o %t
// RUN: rm -f %t.trace
// RUN: %run_quiet{block_kinds=sync} %t %t.trace

#include "mprof/mprof.h"
#include "switches.h"

#include <poll.h>
#include <pthread.h>

// The runtime's entries.
extern char lock_entry[] __asm__("__mprof_pthread_mutex_lock");
extern char unlock_entry[] __asm__("__mprof_pthread_mutex_unlock");
extern char poll_entry[] __asm__("__mprof_poll");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void use(void) {
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
  CHECK_EQ(poll(NULL, 0, 0), 0);
}

static void check_call(void *entry, int is_on) {
  const volatile struct call *c = find(entry);
  CHECK_EQ(c->is_on, is_on);
  CHECK(c->function != c->entry);
  CHECK(c->target == (is_on ? c->entry : c->function));
}

static void check(int lock, int unlock, int polls) {
  check_call(lock_entry, lock);
  check_call(unlock_entry, unlock);
  check_call(poll_entry, polls);
  use();
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  check(0, 0, 0);
  mprof_set_block_rate(1);
  check(1, 1, 0);
  mprof_set_mutex_fraction(1);
  mprof_set_block_rate(0);
  check(1, 1, 0);
  mprof_set_mutex_fraction(0);
  check(0, 0, 0);
  CHECK_EQ(mprof_trace_start(argv[1]), 0);
  check(1, 1, 1);
  CHECK_EQ(mprof_trace_stop(), 0);
  check(0, 0, 0);
  return 0;
}
