// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the slots (one for each thread) with stacks; see thread_collect.h. Each
// slot is filled in one of these ways:
// 1. If the thread is in a noted wait (its record has the address of the wait),
//    the reader (the thread that collects the stacks) reads the thread's stack.
// 2. Otherwise the reader asks the thread by a signal and waits some time for
//    the answer. The reader does not ask a thread if the signal would make a
//    system call of the thread fail with EINTR.
// 3. If the slot is still empty, the reader stores the data that the kernel
//    shows in /proc.
// Between any two steps, the thread may begin or end a wait, and it may exit.
// (Go: tryRecordGoroutineProfile)

#include "thread_stacks/thread_collect.h"

#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/os_linux.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_ask.h"
#include "thread_stacks/thread_noting.h"
#include "thread_stacks/thread_read.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_unnoted.h"
#include "thread_stacks/thread_wait.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

enum {
  // The reader (the thread that collects the stacks) stops waiting for answers
  // after QUIET_MS without a new answer. But if an asked thread is runnable, it
  // may only lack a processor. In this case the reader waits on, until
  // PATIENCE_MS have passed.
  QUIET_MS = 100,
  PATIENCE_MS = 3000,
  // Maximum number of times that the reader examines a running thread that it
  // cannot ask yet. The reader sleeps for a millisecond between two attempts.
  TRIES = 5,
};

// --- asking a thread that runs ---

// Returns whether a signal is harmless for the system call in which a thread is
// blocked. A signal is harmless if the kernel restarts the call after the
// signal, or if the call completes before the signal is handled.
static bool survives_signal(const struct mprof_proc_thread *p) {
  const uint64_t command = p->args[1] & FUTEX_CMD_MASK;
  switch (p->syscall) {
  case MPROF_SYSCALL_NONE: // blocked in a page fault
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mprotect:
  case SYS_madvise:
  case SYS_brk:
  case SYS_wait4:
  case SYS_waitid:
  case SYS_flock:
    return true;
  // The kernel restarts a futex call without a timeout (args[3] is 0).
  case SYS_futex:
    return p->args[3] == 0 &&
           (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
            command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2);
  default:
    return false;
  }
}

static bool blocks_signal(const struct mprof_proc_thread *p) {
  return p->blocked >> (mprof_ask_signal() - 1) & 1;
}

static bool may_be_asked(const struct mprof_thread_slot *slot,
                         const struct mprof_proc_thread *p) {
  const struct mprof_thread *t = slot->thread;
  // Such a thread blocks all signals. It will answer when it ends its pause.
  if (t && atomic_load(&t->is_pausing))
    return true;
  return !blocks_signal(p) &&
         (p->state == 'R' || ((p->state == 'S' || p->state == 'D') &&
                              (survives_signal(p) ||
                               (t && (t->inside || t->may_be_interrupted)))));
}

// Marks the slot's thread as asked by a signal, if `is_asked`.
static void set_asked(struct mprof_reader *r, struct mprof_thread_slot *slot,
                      bool is_asked) {
  if (is_asked && !slot->is_listed) {
    slot->is_listed = true;
    slot->next_asked = r->last_asked;
    r->last_asked = slot;
  }
  slot->is_asked = is_asked;
}

static void ask_unregistered(struct mprof_reader *r,
                             struct mprof_thread_slot *slot) {
  // is_asked is set under registry_lock, so that a thread that enters the
  // registry later sees that it was asked.
  mprof_reader_lock_registry(r);
  set_asked(r, slot, slot->thread == NULL);
  mprof_reader_unlock_registry(r);
  if (slot->is_asked &&
      mprof_ask(slot->tid, r->round, mprof_slot_number(r->s, slot)) != 0)
    slot->is_asked = false;
}

// Asks a registered thread for its stack by a signal. Returns false if the
// thread is in a noted wait now (t->wait is the address of the wait). In this
// case the reader must read the thread's stack.
static bool ask_registered(struct mprof_reader *r,
                           struct mprof_thread_slot *slot) {
  struct mprof_thread *t = slot->thread;
  uintptr_t none = 0;
  if (!atomic_compare_exchange_strong(&t->wait, &none, MPROF_WAIT_ASKED))
    return none == MPROF_WAIT_ASKED;
  set_asked(r, slot,
            mprof_is_own_record(r, slot) &&
                mprof_ask(slot->tid, r->round, mprof_slot_number(r->s, slot)) ==
                    0);
  uintptr_t asked = MPROF_WAIT_ASKED;
  if (!slot->is_asked)
    atomic_compare_exchange_strong(&t->wait, &asked, 0);
  return true;
}

// Asks the threads again that have answered before answers led to a pause, so
// that these threads pause, too (thread_pause.h). Does not ask a thread that
// may be in a system call.
static void pause_early(struct mprof_reader *r) {
  struct mprof_proc_thread p;
  struct mprof_thread_slot *slot = r->last_asked;
  for (; slot; slot = slot->next_asked) {
    if (slot->is_asked && slot->thread && !mprof_slot_is_absent(slot) &&
        mprof_proc_thread_asleep(slot->tid, &p) && p.state == 'R' &&
        may_be_asked(slot, &p))
      ask_registered(r, slot);
  }
}

static void ask(struct mprof_reader *r, struct mprof_thread_slot *slot) {
  struct mprof_proc_thread p;
  for (int tries = 0; tries < 100 && mprof_slot_is_absent(slot); tries++) {
    if (slot->thread) {
      const enum mprof_reading reading = mprof_read_waiting(r, slot);
      slot->is_gone = reading == MPROF_READ_GONE;
      if (reading != MPROF_READ_NOT_WAITING)
        continue;
    }
    if (!mprof_proc_thread_asleep(slot->tid, &p)) {
      slot->is_gone = true;
      return;
    }
    if (!may_be_asked(slot, &p)) {
      // If slot->thread->wait is not 0, the thread has just begun a wait. (A
      // thread sets this variable before the system call of the wait.) In this
      // case the loop reads the thread's stack next.
      if (slot->thread && atomic_load(&slot->thread->wait) != 0)
        continue;
      // The thread may be in a signal handler, or about to enter one, or in a
      // short system call. So the reader examines the thread again later.
      slot->may_later = p.state == 'R' || p.state == 'D';
      slot->tries++;
      return;
    }
    if ((p.state == 'R' || p.syscall == MPROF_SYSCALL_NONE) &&
        !mprof_is_past_unnoted(slot, &p)) {
      slot->may_later = true;
      return;
    }
    if (p.syscall == SYS_futex)
      mprof_unnoted_find(&p, &slot->unnoted);
    if (!slot->thread)
      ask_unregistered(r, slot);
    const bool is_done =
        slot->is_asked || (slot->thread && ask_registered(r, slot));
    if (slot->is_asked && p.state == 'R' &&
        mprof_pause_asked(&r->asked, slot->tid))
      pause_early(r);
    if (is_done)
      return;
  }
}

// --- waiting for answers ---

static bool is_pending(const struct mprof_thread_slot *slot) {
  return slot->is_asked && !slot->is_gone &&
         atomic_load_explicit(&slot->state, memory_order_acquire) !=
             MPROF_SLOT_SATISFIED;
}

static size_t count_pending(struct mprof_reader *r, bool looks) {
  size_t n = 0;
  struct mprof_thread_slot *slot = r->last_asked;
  for (; slot; slot = slot->next_asked) {
    if (!is_pending(slot))
      continue;
    if (looks && !mprof_sys_thread_alive(slot->tid)) {
      slot->is_gone = true;
      r->lost++;
      continue;
    }
    n++;
  }
  return n;
}

// Returns whether any thread that was asked and has not answered is runnable. A
// runnable thread may still answer when it gets a processor.
static bool has_runnable(const struct mprof_reader *r) {
  struct mprof_proc_thread p;
  const struct mprof_thread_slot *slot = r->last_asked;
  for (; slot; slot = slot->next_asked) {
    if (is_pending(slot) && mprof_proc_thread_asleep(slot->tid, &p) &&
        p.state == 'R')
      return true;
  }
  return false;
}

static uint64_t ms_since(uint64_t ticks) {
  return mprof_clock_ns(mprof_clock_now() - ticks) / 1000000;
}

static void await_answers(struct mprof_reader *r) {
  const uint64_t begin = mprof_clock_now();
  uint64_t last = begin; // time of the last new answer
  size_t before = 0;
  // Most threads answer within microseconds. The number of short sleeps is
  // limited, because each of them costs processor time. If the reader has used
  // more time than the threads that compute, the kernel lets it run less often.
  int dozes_left = 100;
  for (;;) {
    for (int i = 0; i < 20 && dozes_left > 0 && count_pending(r, false) > 0;
         i++, dozes_left--)
      mprof_sys_doze();
    const size_t pending = count_pending(r, true);
    if (pending == 0)
      return;
    if (pending != before)
      last = mprof_clock_now();
    before = pending;
    if (ms_since(last) >= QUIET_MS) {
      if (ms_since(begin) >= PATIENCE_MS || !has_runnable(r))
        return;
      last = mprof_clock_now();
    }
    mprof_sys_sleep_ms(1);
  }
}

// --- threads that were not asked or have not answered ---

// Fills the slot of a thread that could not be asked or has not answered. The
// slot gets the data that the kernel shows in /proc. If this data shows the
// hooked function in which the thread waits, the slot gets this function and
// its caller.
static void look(struct mprof_thread_stacks *s,
                 struct mprof_thread_slot *slot) {
  struct mprof_proc_thread p;
  const bool is_there = mprof_proc_thread(slot->tid, &p);
  if (!mprof_slot_claim(s, slot, 2))
    return;
  slot->is_gone = !is_there;
  slot->source = MPROF_STACK_UNREAD;
  slot->kernel_state = p.state;
  slot->syscall = p.syscall;
  if (slot->thread)
    slot->stack->labels = atomic_load(&atomic_load(&slot->thread)->labels);
  slot->stack->end = MPROF_STACK_CUT_CHAIN;
  if (is_there && p.syscall >= 0)
    mprof_unnoted_find(&p, &slot->unnoted);
  const struct mprof_unnoted *u = &slot->unnoted;
  const uint32_t known = p.pc == 0 ? 0 : u->op != 0 && u->caller != 0 ? 2 : 1;
  const mprof_pc pcs[] = {u->op != 0 ? mprof_op_pc(u->op) : p.pc + 1,
                          u->caller};
  slot->stack->stack_len = known < mprof_flags.stack_depth
                               ? known
                               : (uint32_t)mprof_flags.stack_depth;
  memcpy(slot->stack->stack, pcs, slot->stack->stack_len * sizeof(pcs[0]));
  mprof_slot_satisfy(slot);
}

static void withdraw(struct mprof_thread_slot *slot) {
  uintptr_t asked = MPROF_WAIT_ASKED;
  if (slot->is_asked && slot->thread)
    atomic_compare_exchange_strong(&slot->thread->wait, &asked, 0);
}

// --- all slots ---

// Returns whether the thread seems to be in a noted wait. The wait may begin or
// end at any time.
static bool seems_to_wait(const struct mprof_thread_slot *slot) {
  const struct mprof_thread *t = atomic_load(&slot->thread);
  return t && atomic_load_explicit(&t->wait, memory_order_relaxed) != 0;
}

// Reads the stacks of the waiting threads of the slots from number `from` on,
// and asks the running threads. Returns whether some threads should be examined
// again.
// only_running: leaves out the threads that seem to wait
// again: only the threads that could not be asked at the last time; otherwise
//   only the threads that were not examined before
static bool ask_all(struct mprof_reader *r, size_t from, bool only_running,
                    bool again) {
  bool is_again = false;
  for (size_t i = from; i < r->s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(r->s, i);
    if (!only_running)
      mprof_read_prefetch(r->s, i);
    if (!mprof_slot_is_absent(slot) ||
        (again ? !slot->may_later : slot->is_examined) ||
        (only_running && seems_to_wait(slot)))
      continue;
    slot->is_examined = true;
    slot->may_later = false;
    ask(r, slot);
    slot->may_later &= slot->tries < TRIES;
    is_again |= slot->may_later;
  }
  return is_again;
}

// Asks the running threads first, and reads the stacks of the waiting threads
// while the asked threads answer. If more threads run than there are
// processors, the reader shares its processor with some of them. When the
// reader has used up its time slice, each of these threads that was not asked
// gets a slice before the reader gets the next one. A thread that was asked
// only answers and then pauses (thread_pause.h).
void mprof_collect_slots(struct mprof_reader *r, size_t from) {
  const uint64_t begin = mprof_clock_now();
  bool is_again = ask_all(r, from, true, false);
  mprof_slots_populate(r->s);
  is_again |= ask_all(r, from, false, false);
  await_answers(r);
  while (is_again && ms_since(begin) < PATIENCE_MS) {
    mprof_sys_sleep_ms(1);
    is_again = ask_all(r, from, false, true);
    await_answers(r);
  }
}

void mprof_collect_rest(struct mprof_reader *r) {
  for (size_t i = 0; i < r->s->slots_len; i++) {
    struct mprof_thread_slot *slot = mprof_slot_at(r->s, i);
    withdraw(slot);
    if (mprof_slot_is_absent(slot))
      look(r->s, slot);
  }
}
