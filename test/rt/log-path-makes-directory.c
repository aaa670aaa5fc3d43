// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the directory that log_path names does not exist, MProf makes it,
// and those above it, when it writes the first file: at exit, at a signal, for
// a report of stuck threads, and for a trace that becomes a file while the
// program runs. The umask of the program holds, except that the user can write
// into the directory. A program that writes nothing
// makes no directory. If the directory cannot be made, the program ends as
// without MProf, and a message says what is wrong.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=new/%%e/deep/x} ./app && ls new/app/deep/x.*.heap.pb.gz
// RUN: ls new/app/deep/x.*.txt && stat -c %a new new/app/deep | sort -u | grep -x 750
// RUN: %run{heap_rate=1:log_path=shut/deep/x} ./app shut && ls shut/deep/x.*.txt
// RUN: stat -c %a shut shut/deep | sort -u | grep -x 300
// RUN: %run{heap_rate=1:log_path=$PWD/whole/x} ./app && ls whole/x.*.txt
// RUN: %run{heap_rate=1:log_path=inside/} ./app && ls inside/mprof.app.*.heap.pb.gz
// RUN: %run{heap_rate=1:log_path=signal/x:dump_on_signal=URG} ./app signal
// RUN: %run_quiet{stuck_report=1:log_path=stuck/x} timeout 600 ./app stuck
// RUN: %run{trace=1:profile=0:report=0:log_path=only/deep/x} ./app && ls only/deep/x.*.trace
// RUN: %run{trace=1:trace_max_mb=1:log_path=trace/x} timeout 600 ./app trace && ls trace/x.*.trace
//
// RUN: %run{log_path=none/x} ./app nothing && test ! -e none
// RUN: %run{heap_rate=1:log_path=/proc/missing/x} ./app 2>&1 | FileCheck %s
// RUN: %run{heap_rate=1:log_path=/proc/missing/x} ./app
// CHECK: mprof: cannot write /proc/missing/x.{{[0-9]+}}.heap.pb.gz: no such file or directory (the directory is missing and cannot be made)

#include "deadlock.h"

#include <mprof/mprof.h>

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void *volatile kept;

static void until_exists(const char *pattern) {
  glob_t found;
  while (glob(pattern, 0, NULL, &found) != 0)
    usleep(1000);
  globfree(&found);
}

// Records more events than the memory of the trace holds.
static void trace(void) {
  while (access("trace", F_OK) != 0)
    for (int i = 0; i < 1000; i++)
      mprof_trace_log(0, "key", "text");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  umask(027);
  if (strcmp(what, "nothing") == 0)
    return 0;
  if (strcmp(what, "shut") == 0)
    umask(0777);
  kept = malloc(100);
  if (strcmp(what, "signal") == 0) {
    errno = 77;
    NEED(raise(SIGURG) == 0 && errno == 77);
    until_exists("signal/x.*.heap.pb.gz");
  } else if (strcmp(what, "stuck") == 0) {
    init_deadlock();
    create_waiter(0, a_then_b);
    create_waiter(1, b_then_a);
    until_exists("stuck/x.*.stuck.txt");
  } else if (strcmp(what, "trace") == 0) {
    trace();
  }
  return 0;
}
