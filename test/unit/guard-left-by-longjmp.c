// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a longjmp has left the runtime, the next event in a frame that is
// not below finds the guard free, and the runtime's locks that the thread held
// are free again. While a signal handler, also one on an alternate stack,
// interrupts the runtime, the guard and the locks stay as they are.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o %t
// RUN: timeout 600 %t

#include "core.h"

#include "sys/lock.h"
#include "sys/stats.h"
#include "sys/tls.h"

#include <setjmp.h>
#include <signal.h>

static struct mprof_lock first = MPROF_LOCK_INIT(MPROF_RANK_ACTIVE);
static struct mprof_lock second = MPROF_LOCK_INIT(MPROF_RANK_INSERT);
static sigjmp_buf recovery;
static bool leaves;
static int handled;

__attribute__((noinline)) static bool enters(void) {
  if (!mprof_guard_enter())
    return false;
  mprof_guard_leave();
  return true;
}

static void on_signal(int sig) {
  CHECK(!enters());
  CHECK(mprof_tls.held == 2 && mprof_tls.locks[1] == &second);
  handled++;
  if (leaves)
    siglongjmp(recovery, sig);
}

__attribute__((noinline)) static void event(void) {
  volatile char deep[4096];
  deep[0] = 0;
  CHECK(mprof_guard_enter());
  mprof_lock_acquire(&first);
  mprof_lock_acquire(&second);
  raise(SIGUSR1);
  CHECK(mprof_tls.held == 2);
  mprof_lock_release(&second);
  mprof_lock_release(&first);
  mprof_guard_leave();
  deep[1] = 1;
}

static void check(int flags) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  NEED(sigaction(SIGUSR1, &action, NULL) == 0);
  const uint64_t left = mprof_stat_get(MPROF_STAT_left);
  leaves = false;
  event();
  CHECK_EQ(mprof_stat_get(MPROF_STAT_left), left);
  CHECK(enters());
  leaves = true;
  if (sigsetjmp(recovery, 1) == 0)
    event();
  CHECK(mprof_tls.held == 2);
  CHECK(enters());
  CHECK_EQ(mprof_stat_get(MPROF_STAT_left), left + 1);
  CHECK(mprof_tls.held == 0);
  CHECK(mprof_guard_enter());
  CHECK(mprof_lock_acquire_within(&first, 0));
  CHECK(mprof_lock_acquire_within(&second, 0));
  mprof_lock_release(&second);
  mprof_lock_release(&first);
  mprof_guard_leave();
}

int main(void) {
  static char below[65536];
  char above[65536]; // above the frames of the events
  check(0);
  stack_t alternate = {.ss_sp = below, .ss_size = sizeof(below)};
  NEED(sigaltstack(&alternate, NULL) == 0);
  check(SA_ONSTACK);
  alternate.ss_sp = above;
  NEED(sigaltstack(&alternate, NULL) == 0);
  check(SA_ONSTACK);
  CHECK_EQ(handled, 6);
  return 0;
}
