// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a collection of all stacks asks the running threads before it reads
// the stacks of waiting threads, also if the waiting threads are older.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t -Wl,--wrap=mprof_ask
// RUN: %t

#include "core.h"

#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_wait.h"

#include <pthread.h>
#include <sched.h>

enum { AFTER_ASK = 7 };

static struct mprof_thread *_Atomic waiting, *_Atomic running;
static atomic_bool may_end;

static struct mprof_thread *self(void) {
  mprof_guard_enter();
  struct mprof_thread *t = mprof_thread_self(false);
  mprof_guard_leave();
  return t;
}

long __real_mprof_ask(int tid, unsigned round, unsigned slot);
long __wrap_mprof_ask(int tid, unsigned round, unsigned slot);

long __wrap_mprof_ask(int tid, unsigned round, unsigned slot) {
  CHECK_EQ(tid, atomic_load(&running)->tid);
  atomic_store(&atomic_load(&waiting)->labels, AFTER_ASK);
  return __real_mprof_ask(tid, round, slot);
}

static void begin(struct mprof_wait *w) {
  mprof_guard_enter();
  mprof_wait_note(w);
  mprof_guard_leave();
}

static void *wait_noted(void *arg) {
  struct mprof_wait w = {.op = (uintptr_t)begin,
                         .frame = (uintptr_t)__builtin_frame_address(0),
                         .kind = MPROF_KIND_sem,
                         .start = 1};
  struct mprof_thread *t = self();
  begin(&w);
  atomic_store(&waiting, t);
  while (!atomic_load(&may_end))
    sched_yield();
  mprof_wait_note_end(&w);
  return arg;
}

static void *compute(void *arg) {
  struct mprof_thread *t = self();
  mprof_thread_is_noting(t);
  atomic_store(&running, t);
  while (!atomic_load(&may_end))
    ;
  return arg;
}

int main(void) {
  pthread_t a, b;
  struct mprof_thread_stacks s;
  pthread_create(&a, NULL, wait_noted, NULL);
  while (!atomic_load(&waiting))
    sched_yield();
  pthread_create(&b, NULL, compute, NULL);
  while (!atomic_load(&running))
    sched_yield();
  mprof_guard_enter();
  CHECK_EQ(mprof_thread_stacks_take(&s, (uintptr_t)__builtin_frame_address(0),
                                    SIZE_MAX, false),
           0);
  CHECK_EQ(s.len, 3);
  CHECK_EQ(mprof_slot_of(&s, atomic_load(&running)->tid)->source,
           MPROF_STACK_OF_RUNNING);
  const struct mprof_thread_slot *slot =
      mprof_slot_of(&s, atomic_load(&waiting)->tid);
  CHECK_EQ(slot->source, MPROF_STACK_OF_WAITING);
  CHECK_EQ(slot->stack->labels, AFTER_ASK);
  mprof_thread_stacks_free(&s);
  mprof_guard_leave();
  atomic_store(&may_end, true);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
