// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a longjmp has left the runtime, the next event in a frame that is
// not below finds the guard free, and the runtime's locks that the thread held
// are free again, and its trace record has ended. While a signal handler
// interrupts the runtime, the guard and the locks stay as they are, also if the
// handler runs on an alternate stack, which the kernel may not know, or on the
// stack of a coroutine.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t
// RUN: timeout 600 %t

#include "core.h"

#include "sys/lock.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

static struct mprof_lock first = MPROF_LOCK_INIT(MPROF_RANK_ACTIVE);
static struct mprof_lock second = MPROF_LOCK_INIT(MPROF_RANK_INSERT);
static sigjmp_buf recovery;
static bool leaves;
static char *coroutine_stack; // NULL: the handler runs no coroutine
enum { STACK_BYTES = 65536 };
static int handled;

__attribute__((noinline)) static bool enters(void) {
  if (!mprof_guard_enter())
    return false;
  mprof_guard_leave();
  return true;
}

static void check_kept(void) { CHECK(!enters()); }

static void run_coroutine(void) {
  ucontext_t handler, coroutine;
  NEED(getcontext(&coroutine) == 0);
  coroutine.uc_stack.ss_sp = coroutine_stack;
  coroutine.uc_stack.ss_size = STACK_BYTES;
  coroutine.uc_link = &handler;
  makecontext(&coroutine, check_kept, 0);
  NEED(swapcontext(&handler, &coroutine) == 0);
}

static void on_signal(int sig) {
  check_kept();
  if (coroutine_stack)
    run_coroutine();
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
  mprof_tls.self->in_trace = 1;
  raise(SIGUSR1);
  mprof_tls.self->in_trace = 0;
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
  CHECK_EQ(mprof_tls.self->in_trace, 0);
  CHECK(mprof_guard_enter());
  CHECK(mprof_lock_acquire_within(&first, 0));
  CHECK(mprof_lock_acquire_within(&second, 0));
  mprof_lock_release(&second);
  mprof_lock_release(&first);
  mprof_guard_leave();
}

static void use_alternate_stack(void *stack, unsigned flags) {
  stack_t alternate = {
      .ss_sp = stack, .ss_size = STACK_BYTES, .ss_flags = (int)flags};
  NEED(sigaltstack(&alternate, NULL) == 0);
}

int main(void) {
  static char below[STACK_BYTES];
  char above[STACK_BYTES]; // above the frames of the events
  NEED(mprof_guard_enter());
  NEED(mprof_thread_self(true));
  mprof_guard_leave();
  check(0);
  use_alternate_stack(below, 0);
  check(SA_ONSTACK);
  use_alternate_stack(above, 0);
  check(SA_ONSTACK);
  // The kernel forgets this stack while the handler runs.
  use_alternate_stack(above, 1u << 31 /* SS_AUTODISARM */);
  check(SA_ONSTACK);
  use_alternate_stack(NULL, SS_DISABLE);
  coroutine_stack = above;
  check(0);
  CHECK_EQ(handled, 10);
  return 0;
}
