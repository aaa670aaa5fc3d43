// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the trace has the name of each thread as a message of this thread.
// This holds even if the thread ends without a wait, or waits until the trace
// ends. A thread that was not given a name has no such message.
//
// REQUIRES: go-1.23
// RUN: %mprof_clang -D_GNU_SOURCE -fmprof -O1 -I%src/include -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: %go tool trace -d=parsed %t.trace > %t.text
// RUN: FileCheck %s < %t.text
// RUN: test $(grep -c 'Category="thread.name"' %t.text) = 2
//
// A recorder's window has names that were given before its begin. A format
// without messages does not warn about missing names.
// On a busy machine, a window may lack the thread: then the program runs again.
// RUN: rm -f %t.last.*; until grep -sq 'Category="key"' %t.last.text; do rm -f %t.last.* && \
// RUN:   %run_quiet{trace_last=50ms:log_path=%t.last} %t && \
// RUN:   %go tool trace -d=parsed %t.last.*.trace > %t.last.text || exit 1; done
// RUN: %trace_check -q %t.last.*.trace
// RUN: FileCheck --check-prefix=LAST %s < %t.last.text
// RUN: %run_quiet{trace=1:trace_format=1.5:log_path=%t.old} %t 2> %t.said
// RUN: not grep 'cannot represent' %t.said
//
// CHECK-DAG: Log {{.*}}Category="thread.name" Message="waiter \"1\""
// CHECK-DAG: Log {{.*}}Category="thread.name" Message="brief"
// LAST: Log {{.*}}Category="thread.name" Message="sleeper"

#include "sync-observe.h"

#include <mprof/mprof.h>

static void *wait_for_ever(void *arg) {
  pthread_setname_np(pthread_self(), "waiter \"1\"");
  about_to_wait(arg);
  for (;;)
    pause();
  return arg;
}

static void *end_at_once(void *arg) {
  mprof_trace_log(0, "key", "before it has a name");
  pthread_setname_np(pthread_self(), "brief");
  return arg;
}

static void *end_process(void *arg) {
  pthread_setname_np(pthread_self(), "sleeper");
  usleep(60000); // longer than the window
  if (strstr(getenv("MPROF_OPTIONS"), "trace_last"))
    mprof_trace_log(0, "key", "in the window");
  exit(0);
  return arg;
}

static void *sleep_without_name(void *arg) {
  usleep(1000);
  return arg;
}

int main(int argc, char **argv) {
  static pid_t tid;
  pthread_t a, b, c;
  if (argc == 1) {
    pthread_create(&a, NULL, end_process, NULL);
    pthread_join(a, NULL);
  }
  if (argc != 2 || mprof_trace_start(argv[1]) != 0 ||
      pthread_create(&a, NULL, wait_for_ever, &tid) != 0 ||
      pthread_create(&b, NULL, end_at_once, NULL) != 0 ||
      pthread_create(&c, NULL, sleep_without_name, NULL) != 0)
    return 1;
  pthread_join(b, NULL);
  pthread_join(c, NULL);
  until_waits_in(&tid, SYS_pause);
  return mprof_trace_stop();
}
