// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that exists when a trace begins has the state in the trace
// that the kernel reports: in a system call or waiting. The trace shows how the
// thread continues or ends, even if the thread has no other events.
//
// REQUIRES: go-1.23
// RUN: %mprof_clang -fmprof -O1 -I%src/include -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: test $(%trace_print %t.trace | grep -c GoEnd) = 3
// RUN: %run_quiet{trace_format=1.5} %t %t.old
// RUN: %go119 tool trace -d %t %t.old > %t.events
// RUN: FileCheck %if emulated %{--check-prefix=EMULATED%} %s < %t.events
// RUN: test $(grep -c GoEnd %t.events) = 3
// RUN: %go tool trace -d=parsed %t.trace | \
// RUN:   FileCheck --check-prefixes=NEW%if !emulated %{,CALL%} %s
//
// CHECK: GoInSyscall
// CHECK: GoSysExit
// CHECK: GoUnblock
// CALL-DAG: Undetermined->Syscall
// NEW-DAG: Undetermined->Waiting
//
// The kernel reports a system call of the emulator, which MProf does not know.
// EMULATED: GoWaiting
// EMULATED: GoUnblock

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <semaphore.h>

static int to_reader[2];
static sem_t posted;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void reader(void *arg) {
  (void)arg;
  char c = 0;
  free(malloc(100)); // so that the runtime knows the thread
  if (read(to_reader[0], &c, 1) != 1)
    abort();
  mprof_trace_log(0, "key", "read");
}

static void locker(void *arg) {
  (void)arg;
  free(malloc(100));
  pthread_mutex_lock(&m);
  mprof_trace_log(0, "key", "locked");
  pthread_mutex_unlock(&m);
}

static void quiet(void *arg) {
  (void)arg;
  free(malloc(100));
  sem_wait(&posted);
}

int main(int argc, char **argv) {
  struct thread a, b, c;
  sem_init(&posted, 0, 0);
  pthread_mutex_lock(&m);
  if (argc != 2 || pipe(to_reader) != 0)
    return 1;
  start(&a, reader, NULL);
  start_waiting(&b, locker, NULL, &m, sizeof(m));
  start_waiting(&c, quiet, NULL, &posted, sizeof(posted));
  until_blocked(a.tid, SYS_read, NULL, 0);
  if (mprof_trace_start(argv[1]) != 0 || write(to_reader[1], "x", 1) != 1)
    return 1;
  pthread_mutex_unlock(&m);
  finish(&a);
  finish(&b);
  sem_post(&posted);
  finish(&c);
  return mprof_trace_stop();
}
