// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: trace=1 traces a program without calls of MProf's functions from its
// begin to its end. A forked child has a trace of its own. The line that each
// process prints at exit names its trace. A trace that the program starts and
// does not stop is written at exit to the path that the program gave.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include -I%src/test/Inputs %s -o run
// RUN: %run_quiet{trace=1:log_path=out} ./run 2> said
// RUN: test $(ls out.*.trace | wc -l) = 2
// RUN: %trace_check -q out.*.trace
// RUN: grep -c 'wrote out.[0-9]*.trace ([0-9,]* events)' said | grep -x 2
// RUN: for f in out.*.trace; do \
// RUN:   %trace_print $f | grep -E ': (GoCreate|GoSleep|GoEnd|GoBlockCond)' \
// RUN:     > text && \
// RUN:   FileCheck --check-prefix=CREATED --implicit-check-not=GoCreate %s < text && \
// RUN:   FileCheck --check-prefix=JOIN %s < text && \
// RUN:   FileCheck --check-prefix=THREAD --implicit-check-not=GoSleep \
// RUN:     --implicit-check-not=GoEnd %s < text || exit 1; done
// RUN: %run_quiet ./run own.trace 2> said
// RUN: %trace_check -q own.trace && grep -q 'wrote /.*/own.trace ' said
//
// CREATED: GoCreate main
// CREATED: GoCreate in_thread
// JOIN-NOT: GoBlockCond
// JOIN: main: GoBlockCond at pthread_join < make_thread < main{{$}}
// THREAD: GoSleep at usleep < in_thread
// THREAD: GoEnd

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <sys/wait.h>

static void *in_thread(void *arg) {
  usleep(1000);
  until_main_waits(NULL, 0);
  return arg;
}

static void make_thread(void) {
  pthread_t t;
  pthread_create(&t, NULL, in_thread, NULL);
  pthread_join(t, NULL);
}

int main(int argc, char **argv) {
  if (argc > 1)
    return mprof_trace_start(argv[1]);
  make_thread();
  if (fork() == 0) {
    make_thread();
    return 0;
  }
  wait(NULL);
  return 0;
}
