// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: two threads hand a mutex to each other. If an unlock of the other
// thread ends a wait, the trace shows this thread as the waker, with the line
// of the unlock. If the other thread unlocked before the wait began, the wait
// has no waker. At least 100 waits have a waker.
//
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: %trace_print --lines %t.trace | \
// RUN:   grep 'GoUnblock run_.* from GoBlockSync' | \
// RUN:   grep -v -E '^-: GoUnblock run_[a-z]+ from GoBlockSync pthread_mutex_lock$' \
// RUN:   > %t.wakes
// RUN: test $(wc -l < %t.wakes) -ge 100
// RUN: sort -u %t.wakes | FileCheck --implicit-check-not=GoUnblock %s

#include <mprof/mprof.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

enum { ROUNDS = 400 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void pause_for(long us) {
  const struct timespec t = {0, us * 1000};
  nanosleep(&t, NULL);
}

__attribute__((noinline)) static void first(void) {
  pthread_mutex_lock(&m);
  pause_for(200);
  // CHECK: {{^}}run_first: GoUnblock run_second from GoBlockSync pthread_mutex_lock at {{.*}}first trace-waker.c:[[#@LINE + 1]] <
  pthread_mutex_unlock(&m);
}
__attribute__((noinline)) static void second(void) {
  pthread_mutex_lock(&m);
  pause_for(200);
  // CHECK: {{^}}run_second: GoUnblock run_first from GoBlockSync pthread_mutex_lock at {{.*}}second trace-waker.c:[[#@LINE + 1]] <
  pthread_mutex_unlock(&m);
}

static void *run_first(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    first();
    pause_for(50);
  }
  return arg;
}
static void *run_second(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    second();
    pause_for(50);
  }
  return arg;
}

int main(int argc, char **argv) {
  pthread_t a, b;
  if (argc != 2 || mprof_trace_start(argv[1]) != 0 ||
      pthread_create(&a, NULL, run_first, NULL) != 0 ||
      pthread_create(&b, NULL, run_second, NULL) != 0)
    return 1;
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return mprof_trace_stop();
}
