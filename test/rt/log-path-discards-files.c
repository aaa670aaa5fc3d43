// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with log_path=/dev/null, a process writes no file and no message at
// exit, and none at a signal. A trace that outgrows its memory makes no
// temporary file, and a report of stuck threads is only the line on stderr.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/run && cd %t.dir/run
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o ../app
// RUN: run() { MPROF_OPTIONS=heap_rate=1:trace=1:trace_max_mb=1:stuck=1:dump_on_signal=terminate:log_path=$1 \
// RUN:   sh -c 'echo $$ > ../pid; exec ../app '$2 2> ../err; }
// RUN: for end in exit signal trace; do run /dev/null $end; test ! -s ../err && \
// RUN:   ls -A | not grep . && ls /dev | not grep "null[.]$(cat ../pid)[.]" || exit 1; done
//
// RUN: (MPROF_OPTIONS=stuck_report=1:log_path=/dev/null ../app stuck 2> ../err & p=$!; \
// RUN:   until grep -q stuck ../err; do kill -0 $p || exit 1; done; kill -KILL $p)
// RUN: grep -x 'mprof: 2 threads are stuck (2 certain, 0 likely)' ../err
// RUN: ls -A | not grep . && ls /dev | not grep 'null[.].*stuck'
//
// Another path gets files in both cases.
// RUN: for end in exit signal; do run x $end; grep wrote ../err && \
// RUN:   ls x.$(cat ../pid).heap.pb.gz x.$(cat ../pid).trace || exit 1; done

#include "deadlock.h"

#include <mprof/mprof.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  kept = malloc(100);
  if (strcmp(what, "signal") == 0)
    raise(SIGTERM);
  if (strcmp(what, "trace") == 0)
    for (int i = 0; i < 300000; i++)
      mprof_trace_log(0, "key", "text");
  if (strcmp(what, "stuck") == 0) {
    init_deadlock();
    create_waiter(0, a_then_b);
    create_waiter(1, b_then_a);
    alarm(60);
    pause();
  }
  return 0;
}
