// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler may leave a thread's unfinished trace event by
// longjmp. The trace then still ends, and its file has the earlier events of
// the thread. The next trace begins and ends as usual.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o left && timeout 600 ./left
// RUN: %trace_check -q first.trace second.trace
// RUN: grep -a -q 'the last words' first.trace
// RUN: grep -a -q 'from elsewhere' second.trace

#include "core.h"

#include "mprof/mprof.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <pthread.h>
#include <semaphore.h>

static sem_t is_in, may_end;

static void *leave(void *arg) {
  mprof_trace_log(0, "key", "the last words");
  atomic_store(&mprof_tls.self->in_trace, 1);
  sem_post(&is_in);
  sem_wait(&may_end);
  return arg;
}

int main(void) {
  pthread_t t;
  sem_init(&is_in, 0, 0);
  sem_init(&may_end, 0, 0);
  CHECK_EQ(mprof_trace_start("first.trace"), 0);
  CHECK_EQ(pthread_create(&t, NULL, leave, NULL), 0);
  sem_wait(&is_in);
  CHECK_EQ(mprof_trace_stop(), 0);
  CHECK_EQ(mprof_trace_start("second.trace"), 0);
  mprof_trace_log(0, "key", "from elsewhere");
  CHECK_EQ(mprof_trace_stop(), 0);
  sem_post(&may_end);
  pthread_join(t, NULL);
  return 0;
}
