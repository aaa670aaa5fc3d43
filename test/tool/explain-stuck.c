// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof explain shows for which locks the threads of a deadlock wait,
// and which threads hold them, in the lines of mprof stuck. Of the report, it
// shows the cycle, with the calls that took the locks.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: env MPROF_OPTIONS=log_path=x.%%p:stuck_report=1:profile=0:report=0 ./app
// RUN: %build/bin/mprof explain app.threadleak.pb.gz > out.md && FileCheck --match-full-lines --strict-whitespace %s < out.md
// RUN: %build/bin/mprof stuck app.threadleak.pb.gz | sed -n '/^2  /,/^$/p;/^1  /,/^$/p' | sed 's/^./    &/' > stuck.txt
// RUN: test -s stuck.txt && %python -c "assert open('stuck.txt').read() in open('out.md').read()"
//
//      CHECK:## Stuck threads
//  CHECK-DAG:        lock: b ({{0x[0-9a-f]+}})
//  CHECK-DAG:        lock: a ({{0x[0-9a-f]+}})
//  CHECK-DAG:        holder: thread {{[0-9]+}}
//      CHECK:    mprof stuck app.threadleak.pb.gz
//
// RUN: mv x.*.stuck.txt app.stuck.txt && %build/bin/mprof explain app.threadleak.pb.gz app.stuck.txt > both.md
// RUN: FileCheck --match-full-lines --strict-whitespace %s --check-prefix=BOTH < both.md
// RUN: grep -c 'mprof stuck app.stuck.txt' both.md | grep -x 1
// RUN: %build/bin/mprof stuck app.stuck.txt | sed -n '/^Cycle/,/^SUMMARY/{/^SUMMARY/d;p}' | sed 's/^./    &/' > cycle.txt
// RUN: test -s cycle.txt && %python -c "assert open('cycle.txt').read() in open('both.md').read()"
//      BOTH:## Cycles of stuck threads
// BOTH-EMPTY:
// BOTH-NEXT:    Cycle 1 of 1: 2 threads wait for one another
//      BOTH:{{.*}} in b_then_a {{.*}}
//      BOTH:    mprof stuck app.stuck.txt
//      BOTH:## Stuck threads
//
// A report that ends with its last thread:
// RUN: %build/bin/mprof explain %S/Inputs/cycle.stuck.txt | grep -c ', held by thread' | grep -x 2

#include "deadlock.h"

#include <mprof/mprof.h>

int main(void) {
  init_deadlock();
  create_waiter(0, a_then_b);
  create_waiter(1, b_then_a);
  until_reported();
  _exit(mprof_write_profile("threadleak", "app.threadleak.pb.gz", 0) != 0);
}
