// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report says if it omits stacks from a list. If the figures are
// not those of the end of the run, the report says when they were taken: at the
// last mprof_next_cycle or garbage collection.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o app
// RUN: %run{heap_rate=1:report_top=2:log_path=all} ./app
// RUN: grep -c '^and 3 stacks more (raise report_top to see them)$' all.*.txt | grep -x 2
// RUN: not grep Cycles: all.*.txt
// RUN: %run{heap_rate=1:report_top=5:log_path=five} ./app
// RUN: not grep 'more (raise report_top to see them)' five.*.txt
// RUN: %run{heap_rate=1:strict_cycles=1:log_path=cycle} ./app cycle
// RUN: grep 'figures are as of the last mprof_next_cycle$' cycle.*.txt
// RUN: %if libgc %{ %mprof_clang -fmprof -O1 -g1 -DGC -I%src/include %s -lgc -o gc %}
// RUN: %if libgc %{ %run{heap_rate=1:log_path=gc} ./gc %}
// RUN: %if libgc %{ grep 'figures are as of the last garbage collection$' gc.*.txt %}

#include <mprof/mprof.h>
#include <stdlib.h>

#ifdef GC
#include <gc.h>
#endif

static void *volatile sink;
#define SITE(n)                                                                \
  static __attribute__((noinline)) void site_##n(void) { sink = malloc(n); }   \
  struct eat_semicolon
SITE(10);
SITE(20);
SITE(30);
SITE(40);
SITE(50);

int main(int argc, char **argv) {
  (void)argv;
  site_10();
  site_20();
  site_30();
  site_40();
  site_50();
  if (argc > 1)
    mprof_next_cycle();
#ifdef GC
  GC_INIT();
  sink = GC_malloc(100);
  GC_gcollect();
#endif
  return 0;
}
