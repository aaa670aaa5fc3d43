// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the trace shows threads that already wait when it begins as waiting,
// with the functions that they run. The trace also shows when these waits end.
// The last event of a thread that still waits when the trace ends is the begin
// of this wait. All this also holds for five hundred threads.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include -I%src/test/Inputs %s -o waits
// RUN: %run_quiet ./waits 2 few.trace
// RUN: %run_quiet ./waits 250 many.trace
// RUN: %trace_check -q *.trace
// RUN: %run_quiet{trace_format=1.5} ./waits 2 old.trace
// RUN: %go119 tool trace -d waits old.trace > /dev/null
// RUN: %if go-1.23 %{ %go tool trace -d=parsed many.trace > /dev/null %}
// RUN: for f in few many; do \
// RUN:   %trace_print --no-numbers $f.trace | \
// RUN:     grep -E 'GoWaiting|GoInSyscall' | sort | uniq -c > $f.begin && \
// RUN:   %trace_print --no-numbers --last $f.trace | sort | uniq -c > $f.end \
// RUN:   || exit 1; done
// RUN: shown=%if emulated %{HIDDEN%} %else %{SHOWN%}
// RUN: FileCheck --check-prefixes=BEGIN,$shown -DN=2 %s < few.begin
// RUN: FileCheck --check-prefixes=BEGIN,$shown -DN=250 %s < many.begin
// RUN: FileCheck --check-prefix=END -DN=2 %s < few.end
// RUN: FileCheck --check-prefix=END -DN=250 %s < many.end
//
// BEGIN-NOT: {{.}}
// SHOWN: {{^ *}}[[N]] for_bytes: GoInSyscall{{$}}
// The kernel reports the system call of an emulator, which MProf does not know.
// HIDDEN: {{^ *}}[[N]] for_bytes: GoWaiting{{$}}
// BEGIN-NEXT: {{^ *}}[[N]] for_turns: GoWaiting{{$}}
// BEGIN-NOT: {{.}}
// END-NOT: for_
// END: {{^ *}}[[N]] for_bytes: GoSysBlock{{$}}
// END-NEXT: {{^ *}}[[N]] for_turns: GoBlockCond{{$}}
// END-NOT: for_

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <sys/ioctl.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn, ends[250][2];
static pid_t tids[2][250]; // of for_turns and for_bytes

// Waits for the first turn, then for the second one.
static void *for_turns(void *arg) {
  about_to_wait(arg);
  pthread_mutex_lock(&m);
  for (int i = 1; i <= 2; i++)
    while (turn < i)
      pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  return arg;
}

static void *for_bytes(void *arg) {
  char byte;
  const int *mine = arg;
  about_to_wait(&tids[1][(int(*)[2])arg - ends]);
  for (int i = 0; i < 2; i++)
    if (read(mine[0], &byte, 1) != 1)
      exit(1);
  return arg;
}

static void go_on(int n) {
  pthread_mutex_lock(&m);
  turn++;
  pthread_cond_broadcast(&c);
  pthread_mutex_unlock(&m);
  for (int i = 0; i < n; i++)
    if (write(ends[i][1], "x", 1) != 1)
      exit(1);
}

// Waits until no byte is left to read and all threads wait.
static void until_all_wait(int n) {
  for (int i = 0; i < n; i++) {
    until_waits_for(&tids[0][i], &c, sizeof(c));
    for (int left = 1; left != 0; pause_us(100))
      ioctl(ends[i][0], FIONREAD, &left);
    until_waits_in(&tids[1][i], SYS_read);
  }
}

int main(int argc, char **argv) {
  static pthread_t t[500];
  const int n = argc == 3 ? atoi(argv[1]) : 0;
  if (n < 1 || n > 250)
    return 1;
  for (int i = 0; i < n; i++) {
    if (pipe(ends[i]) != 0)
      return 1;
    pthread_create(&t[2 * i], NULL, for_turns, &tids[0][i]);
    pthread_create(&t[2 * i + 1], NULL, for_bytes, ends[i]);
  }
  until_all_wait(n);
  if (mprof_trace_start(argv[2]) != 0)
    return 1;
  go_on(n);
  until_all_wait(n);
  if (mprof_trace_stop() != 0)
    return 1;
  go_on(n);
  for (int i = 0; i < 2 * n; i++)
    pthread_join(t[i], NULL);
  return 0;
}
