// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler may leave the functions of the runtime's locks by
// longjmp at any instruction. Afterwards no lock stays locked, no waiter sleeps
// on, and no lock counts waiters that are gone. The test executes the functions
// in single steps, and leaves them at the first step, at the second one, and so
// on. It does nothing where the processor cannot do single steps.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t \
// RUN:   -Wl,--wrap=mprof_sys_futex_wait,--wrap=mprof_sys_yield
// RUN: timeout 600 %t

#include "core.h"

#include "sys/lock.h"
#include "sys/os.h"
#include "sys/tls.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>

#ifdef __x86_64__
#define TRAP_FLAG UINT64_C(0x100)
static void step(bool on) {
  const uint64_t flags = __builtin_ia32_readeflags_u64() & ~TRAP_FLAG;
  __builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags);
}
#else
static void step(bool on) { (void)on; }
#endif

// Number of steps of a wait that are tried before it yields the processor. A
// wait has more of them, but they repeat.
enum { SPINNING = 150 };

static struct mprof_lock first = MPROF_LOCK_INIT(MPROF_RANK_ACTIVE);
static struct mprof_lock second = MPROF_LOCK_INIT(MPROF_RANK_INSERT);
static sigjmp_buf recovery;
static long steps, steps_left;
static bool begins_at_yield; // the steps begin after the wait has spun
static atomic_uint sleeps;
static atomic_bool is_held, must_release;

void __real_mprof_sys_futex_wait(atomic_uint *word, unsigned value);
void __wrap_mprof_sys_futex_wait(atomic_uint *word, unsigned value);
void __wrap_mprof_sys_futex_wait(atomic_uint *word, unsigned value) {
  sleeps++;
  __real_mprof_sys_futex_wait(word, value);
}

void __real_mprof_sys_yield(void);
void __wrap_mprof_sys_yield(void);
void __wrap_mprof_sys_yield(void) {
  if (begins_at_yield)
    step(true);
  __real_mprof_sys_yield();
}

static void on_step(int sig) {
  steps++;
  if (--steps_left == 0)
    siglongjmp(recovery, sig);
}

// Executes `run` and leaves it at step n. Returns false if it has fewer steps.
// Then does what the thread's next event does.
static bool leaves(void (*run)(void), long n) {
  bool has_left = true;
  steps_left = n;
  if (sigsetjmp(recovery, 0) == 0) {
    step(!begins_at_yield);
    run();
    step(false);
    has_left = false;
  }
  if (mprof_tls.guard != 0)
    mprof_guard_abandon();
  return has_left;
}

static void check_unused(void) {
  CHECK(!mprof_tls.held);
  CHECK(!mprof_tls.awaited);
  CHECK(first.word == 0);
  CHECK(second.word == 0);
  CHECK_EQ(first.waiting, 0);
  CHECK_EQ(second.waiting, 0);
}

static void take_both(void) {
  NEED(mprof_guard_enter());
  mprof_lock_acquire(&first);
  mprof_lock_acquire(&second);
  mprof_lock_release(&second);
  mprof_lock_release(&first);
  mprof_guard_leave();
}

static void take_first(void) {
  NEED(mprof_guard_enter());
  mprof_lock_acquire(&first);
  mprof_lock_release(&first);
  mprof_guard_leave();
}

static void release_first(void) {
  mprof_lock_release(&first);
  mprof_guard_leave();
}

static void *waiter(void *arg) {
  take_first();
  return arg;
}

// Holds the lock until another thread sleeps or has left.
static void *holder(void *arg) {
  NEED(mprof_guard_enter());
  mprof_lock_acquire(&first);
  is_held = true;
  while (sleeps == 0 && !must_release)
    sched_yield();
  mprof_lock_release(&first);
  mprof_guard_leave();
  return arg;
}

static bool leaves_release_with_waiter(long n) {
  pthread_t thread;
  mprof_tls.guard = MPROF_GUARD_KEPT;
  mprof_lock_acquire(&first);
  sleeps = 0;
  NEED(pthread_create(&thread, NULL, waiter, NULL) == 0);
  while (sleeps == 0)
    sched_yield();
  const bool has_left = leaves(release_first, n);
  pthread_join(thread, NULL);
  return has_left;
}

static bool leaves_wait(long n) {
  pthread_t thread;
  sleeps = 0;
  is_held = must_release = false;
  NEED(pthread_create(&thread, NULL, holder, NULL) == 0);
  while (!is_held)
    sched_yield();
  const bool has_left = leaves(take_first, n);
  must_release = true;
  pthread_join(thread, NULL);
  return has_left;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_step, .sa_flags = SA_NODEFER};
  NEED(sigaction(SIGTRAP, &action, NULL) == 0);
  leaves(take_both, -1);
  if (steps == 0)
    return 0;
  for (long n = 1; leaves(take_both, n); n++)
    check_unused();
  for (long n = 1; leaves_release_with_waiter(n); n++)
    check_unused();
  for (long n = 1; n <= SPINNING && leaves_wait(n); n++)
    check_unused();
  begins_at_yield = true;
  for (long n = 1; leaves_wait(n); n++)
    check_unused();
  return 0;
}
