// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_interrupted_call tells a signal handler which system call its
// signal interrupted, and returns false if there is none. mprof_sleeps_again
// tells whether the thread will sleep in that call again. The thread will not
// if the futex has changed. After a handler without SA_RESTART, the thread
// sleeps only if the caller repeats the call.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "../Inputs/sync-observe.h"

#include "sys/context.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t word;
static atomic_int tid;
static atomic_bool is_looked_at;
static bool restarts;

#define OWN_FRAME ((uintptr_t)__builtin_frame_address(0))

static void in_call(int sig) {
  struct mprof_proc_thread p;
  (void)sig;
  CHECK(mprof_interrupted_call(OWN_FRAME, &p));
  // The result of a call that has failed replaces the number of the call, or
  // the first argument.
  const bool has_number = restarts || !MPROF_RESULT_REPLACES_NUMBER;
  const bool has_first = restarts || MPROF_RESULT_REPLACES_NUMBER;
  CHECK_EQ(p.syscall, has_number ? SYS_futex : MPROF_SYSCALL_UNKNOWN);
  CHECK_EQ(p.args[0], has_first ? (uintptr_t)&word : 0);
  CHECK_EQ(p.args[2], 7);
  CHECK_EQ(mprof_sleeps_again(&p, true), has_first);
  CHECK_EQ(mprof_sleeps_again(&p, false), restarts);
  word = 8; // as a thread does before it wakes the sleeper
  CHECK(!mprof_sleeps_again(&p, true));
  atomic_store(&is_looked_at, true);
}

static void in_code(int sig) {
  struct mprof_proc_thread p;
  (void)sig;
  CHECK(!mprof_interrupted_call(OWN_FRAME, &p));
  atomic_store(&is_looked_at, true);
}

static void *sleep_there(void *arg) {
  mprof_guard_enter();
  mprof_thread_self(false);
  mprof_guard_leave();
  atomic_store(&tid, (int)syscall(SYS_gettid));
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, NULL, NULL, 0);
  return arg;
}

static void *run_there(void *arg) {
  mprof_guard_enter();
  mprof_thread_self(false);
  mprof_guard_leave();
  atomic_store(&tid, (int)syscall(SYS_gettid));
  while (!atomic_load(&is_looked_at))
    ;
  return arg;
}

static void interrupt(void *(*run)(void *), void (*handler)(int), bool waits) {
  struct sigaction a = {.sa_handler = handler};
  pthread_t thread;
  a.sa_flags = restarts ? SA_RESTART : 0;
  CHECK(sigaction(SIGUSR1, &a, NULL) == 0);
  atomic_store(&tid, 0);
  atomic_store(&is_looked_at, false);
  word = 7;
  CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
  while (atomic_load(&tid) == 0)
    usleep(100);
  if (waits)
    until_blocked(atomic_load(&tid), SYS_futex, &word, sizeof(word));
  CHECK(pthread_kill(thread, SIGUSR1) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(atomic_load(&is_looked_at));
}

int main(void) {
  struct mprof_proc_thread p;
  mprof_guard_enter();
  mprof_thread_self(false);
  mprof_guard_leave();
  CHECK(!mprof_interrupted_call(OWN_FRAME, &p));
  for (int i = 0; i < 2; i++) {
    restarts = i == 1;
    interrupt(sleep_there, in_call, true);
    interrupt(run_there, in_code, false);
  }
  return 0;
}
