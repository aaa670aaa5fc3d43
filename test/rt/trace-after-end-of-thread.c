// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: MProf records the end of a thread in a destructor of thread-specific
// data. If a destructor of the program runs later and logs a message, the
// message is not in the trace. Otherwise the trace would show the thread as
// alive for ever.
//
// REQUIRES: go-1.23
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: %go tool trace -d=parsed %t.trace > %t.text
// RUN: grep -c 'Log .*Message="early"' %t.text | grep -x 5
// RUN: not grep 'late' %t.text

#include "waited.h"

static pthread_key_t key;
static int late;

// Runs a second time, in a later round of the destructors.
static void destroy(void *value) {
  if (value == (void *)1) {
    NEED(pthread_setspecific(key, (void *)2) == 0);
    return;
  }
  mprof_trace_log(0, "key", "late");
  NEED(mprof_label_set("late", "yes") == 0);
  late++;
}

static void *run(void *arg) {
  mprof_trace_log(0, "key", "early");
  NEED(pthread_setspecific(key, (void *)1) == 0);
  return arg;
}

int main(int argc, char **argv) {
  NEED(argc == 2 && mprof_trace_start(argv[1]) == 0);
  NEED(pthread_key_create(&key, destroy) == 0);
  for (int i = 0; i < 5; i++) {
    pthread_t t;
    NEED(pthread_create(&t, NULL, run, NULL) == 0);
    NEED(pthread_join(t, NULL) == 0);
  }
  NEED(late == 5);
  NEED(mprof_trace_stop() == 0);
  return 0;
}
