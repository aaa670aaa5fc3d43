// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process that has nothing to report writes no file, and neither does
// a forked child. A message says that nothing was written, but only if the user
// has set options. A process with one event, or with one event that was lost,
// writes its files as usual.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app -pthread
// RUN: ./app 2> err && test ! -s err && not ls mprof.*
//
// RUN: %run{heap_rate=117440512:log_path=x} ./app 2> err && not ls x.*
// RUN: FileCheck %s < err && grep -c . err | grep -qx 1
// CHECK: {{^}}mprof: wrote nothing: nothing was recorded; the heap profile is empty: the program allocated nothing, or too
// RUN: %run{heap=0:log_path=x} ./app 2> err && not ls x.*
// RUN: grep -q 'nothing was recorded; the heap profile is empty: heap=0' err
// RUN: %run{heap_rate=1:profile=0:report=0} ./app 2> err && test ! -s err
// RUN: %run{heap=0:quiet=1:log_path=x} ./app 2> err && test ! -s err
// RUN: %run{dump_on_signal=URG:heap_rate=117440512:log_path=x} ./app signal \
// RUN:   && not ls x.*
//
// A thread, a block, or a loss is something to report. So are the answers to
// stuck=1 and threads=1.
// RUN: ./app thread && ls mprof.app.*.threadcreate.pb.gz && ls mprof.app.*.txt
// RUN: %run{heap_rate=1:log_path=b} ./app && ls b.*.heap.pb.gz
// RUN: %run{stuck=1:log_path=s} ./app && ls s.*.threadleak.pb.gz
// RUN: %run{threads=1:log_path=t} ./app && ls t.*.threads.pb.gz
// RUN: %run{trace=1:log_path=e} ./app && ls e.*.trace
// RUN: %run{max_labels=1:log_path=l} ./app loss 2> err && ls l.*.txt
// RUN: grep 'labels_overflow 1' err

#include "records.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;
static void *run(void *arg) { return arg; }

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int status;
  pthread_t t;
  struct sigaction now;
  sink = malloc(100);
  for (int i = 0; i < 3; i++) {
    pid_t pid = fork();
    if (pid == 0)
      return 0;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  if (strcmp(how, "thread") == 0)
    CHECK(pthread_create(&t, NULL, run, NULL) == 0 &&
          pthread_join(t, NULL) == 0);
  if (strcmp(how, "loss") == 0) {
    mprof_label_set("a", "1");
    mprof_label_set("a", "2");
  }
  if (strcmp(how, "signal") == 0) {
    CHECK(sigaction(SIGURG, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO));
    raise(SIGURG);
  }
  return 0;
}
