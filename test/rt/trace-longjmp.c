// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: after a siglongjmp out of a wait, the trace shows the thread as
// running from its next event on. This holds even if that event comes from a
// deeper stack than the wait. Regions that a signal handler begins and ends
// during a wait are not in the trace.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: %go tool trace -d=parsed %t.trace | FileCheck %s
//
// CHECK-NOT: Type="handler"
// CHECK: RegionBegin {{.*}}Type="deeper"
// CHECK: Running->Waiting Reason="sleep"
// CHECK: RegionEnd {{.*}}Type="deeper"
// CHECK-NOT: Type="handler"

#include <mprof/mprof.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sigjmp_buf out;
static volatile sig_atomic_t leaves;

static void on_alarm(int signal) {
  (void)signal;
  mprof_trace_region_begin(0, "handler");
  mprof_trace_region_end(0, "handler");
  if (leaves)
    siglongjmp(out, 1);
}

// Overwrites the frames that siglongjmp has left.
__attribute__((noinline)) static void deeper(int depth) {
  volatile char fill[256];
  memset((char *)fill, depth, sizeof(fill));
  if (depth > 0) {
    deeper(depth - 1);
    return;
  }
  mprof_trace_region_begin(0, "deeper");
  usleep(1000);
  mprof_trace_region_end(0, "deeper");
}

int main(int argc, char **argv) {
  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  struct timespec t = {0, 0};
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  if (argc != 2 || mprof_trace_start(argv[1]) != 0)
    return 1;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += 1;
  pthread_mutex_lock(&m);
  ualarm(100000, 0);
  if (pthread_cond_timedwait(&c, &m, &t) == 0)
    return 2;
  leaves = 1;
  ualarm(100000, 0);
  if (sigsetjmp(out, 1) == 0)
    pthread_cond_wait(&c, &m);
  deeper(20);
  return mprof_trace_stop();
}
