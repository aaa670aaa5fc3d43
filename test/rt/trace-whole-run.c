// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: trace=1 traces a program that knows nothing of it from its first to
// its last moment, and a forked child by itself, each to a file of its own that
// the line at the end names; what the program has started and not stopped is
// written to its own path.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o run
// RUN: %run_quiet{trace=1:log_path=out} ./run 2> said
// RUN: test $(ls out.*.trace | wc -l) = 2
// RUN: %trace_check -q out.*.trace
// RUN: grep -c 'wrote out.[0-9]*.trace ([0-9,]* events)' said | grep -x 2
// RUN: for f in out.*.trace; do \
// RUN:   %python %S/Inputs/trace_whole_run.py $f || exit 1; done
// RUN: %run_quiet ./run own.trace 2> said
// RUN: %trace_check -q own.trace && grep -q 'wrote /.*/own.trace ' said

#include <mprof/mprof.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void *in_thread(void *arg) {
  usleep(200000); // so that the join has to wait
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
