// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a trace ends while libgc collects garbage, the trace shows the end
// of the collection at its own end. The web views of Go 1.19 and Go 1.26 show
// the collection.
//
// REQUIRES: libgc, go-1.23, go119
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -lgc -o collects
// RUN: for f in 1.23 1.5; do \
// RUN:   %run_quiet{trace_format=$f} ./collects $f.trace || exit 1; done
// RUN: %trace_check -q 1.23.trace
// RUN: %trace_print --no-stacks 1.23.trace | FileCheck %s
// RUN: %go119 tool trace -d collects 1.5.trace | FileCheck --check-prefix=OLD %s
// OLD: GCStart
// OLD: GCDone
// OLD: GoPreempt
// RUN: %go_views %go 1.23.trace | FileCheck --check-prefix=VIEW %s
//
// CHECK: main: GCStart 0
// CHECK: main: GCDone
// CHECK: main: GoPreempt
// VIEW: {{^ +}}1 GC

#include <gc.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool collects, has_stopped;
static int result;

// libgc does not know this thread, so it runs while the world is stopped.
static void *stop(void *arg) {
  while (!collects)
    ;
  result = mprof_trace_stop();
  has_stopped = true;
  return arg;
}

static void wait_for_stop(GC_EventType event) {
  if (event != GC_EVENT_MARK_START)
    return;
  collects = true;
  while (!has_stopped)
    ;
}

int main(int argc, char **argv) {
  pthread_t stops;
  GC_INIT();
  if (argc != 2 || mprof_trace_start(argv[1]) != 0)
    return 1;
  GC_set_on_collection_event(wait_for_stop);
  pthread_create(&stops, NULL, stop, NULL);
  GC_gcollect();
  pthread_join(stops, NULL);
  return result;
}
