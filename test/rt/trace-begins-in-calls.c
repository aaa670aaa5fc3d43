// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that exists when a trace begins has the state in the trace
// that the kernel reports: in a system call or waiting. The trace shows how the
// thread continues or ends, even if the thread has no other events.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o %t
// RUN: %run_quiet %t %t.trace
// RUN: %trace_check -q %t.trace
// RUN: %go119 tool trace -d %t.trace | FileCheck %if emulated %{--check-prefix=EMULATED%} %s
// RUN: test $(%go119 tool trace -d %t.trace 2> /dev/null | grep -c GoEnd) = 3
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

#include <mprof/mprof.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static int to_reader[2];
static sem_t posted;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *arg) {
  char c = 0;
  free(malloc(100)); // so that the runtime knows the thread
  if (read(to_reader[0], &c, 1) != 1)
    abort();
  mprof_trace_log(0, "key", "read");
  return arg;
}

static void *locker(void *arg) {
  free(malloc(100));
  pthread_mutex_lock(&m);
  mprof_trace_log(0, "key", "locked");
  pthread_mutex_unlock(&m);
  return arg;
}

static void *quiet(void *arg) {
  free(malloc(100));
  sem_wait(&posted);
  return arg;
}

int main(int argc, char **argv) {
  pthread_t a, b, c;
  sem_init(&posted, 0, 0);
  pthread_mutex_lock(&m);
  if (argc != 2 || pipe(to_reader) != 0 ||
      pthread_create(&a, NULL, reader, NULL) != 0 ||
      pthread_create(&b, NULL, locker, NULL) != 0 ||
      pthread_create(&c, NULL, quiet, NULL) != 0)
    return 1;
  usleep(300000); // until all of them wait
  if (mprof_trace_start(argv[1]) != 0 || write(to_reader[1], "x", 1) != 1)
    return 1;
  pthread_mutex_unlock(&m);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  sem_post(&posted);
  pthread_join(c, NULL);
  return mprof_trace_stop();
}
