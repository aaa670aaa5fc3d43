// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a stack collection that each thread does itself: the thread notes
// its waits (stores their addresses in its record), and fills its own slot in a
// round (a collection of the stacks of all threads). thread_wait.h describes
// the states of the thread's wait word.

#include "thread_stacks/thread_wait.h"

#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "unwind/unwind.h"

// Fills the calling thread's slot in the active round with the stack of wait w,
// unless the slot is already filled. The calling thread is about to begin or
// end the wait w.
static void fill(struct mprof_thread *t, const struct mprof_wait *w) {
  // Reads t->round first, because the collecting thread writes t->round last.
  const unsigned round = atomic_load(&t->round);
  struct mprof_thread_slot *slot =
      mprof_round_enter(round, atomic_load(&t->slot));
  if (!slot)
    return;
  struct mprof_thread_stacks *s = mprof_round.stacks;
  if (mprof_slot_claim(s, slot, s->depth)) {
    enum mprof_stack_end end;
    slot->stack->stack_len = (uint32_t)mprof_unwind_wait(
        &t->range, w, slot->tid, slot->stack->stack, s->depth, &end);
    slot->stack->end = (uint8_t)end;
    slot->stack->labels = mprof_tls.labels;
    mprof_slot_note_wait(slot, w);
    mprof_slot_satisfy(slot);
  }
  mprof_round_leave();
}

// Calls fill() with all signals blocked, because a signal handler could leave
// fill() by a longjmp. Signals that arrive meanwhile are delivered before this
// function returns. Returns the signal mask that the thread had before.
static uint64_t answer(struct mprof_thread *t, const struct mprof_wait *w) {
  const uint64_t mask = mprof_sys_set_signal_mask(UINT64_MAX);
  fill(t, w);
  mprof_sys_set_signal_mask(mask);
  return mask;
}

// --- noting a wait ---

static bool is_blocked(uint64_t mask) {
  return mask >> (mprof_ask_signal() - 1) & 1;
}

static void until_let_go(const struct mprof_thread *t) {
  while (atomic_load(&t->wait) & MPROF_WAIT_HELD)
    if (atomic_load(&mprof_round.stopped))
      mprof_sys_futex_wait(&mprof_round.stopped, 1);
    else
      mprof_sys_yield();
}

// Stores `next` in the word t->wait, and returns the previous value without
// MPROF_WAIT_BITS. First waits while the bit MPROF_WAIT_HELD is set, by which a
// thread that reads this stack delays the end of the wait. If the value is
// MPROF_WAIT_ASKED, the collecting thread has sent this thread a signal. In
// this case the function fills the thread's slot and waits until the signal has
// arrived, unless the thread blocks this signal.
// w: the wait that begins or ends now.
static uintptr_t exchange(struct mprof_thread *t, uintptr_t next,
                          const struct mprof_wait *w) {
  uintptr_t now = atomic_load_explicit(&t->wait, memory_order_relaxed);
  bool must_wait = true;
  for (;;) {
    if (mprof_unlikely(now & MPROF_WAIT_HELD)) {
      until_let_go(t);
    } else if (mprof_unlikely(now == MPROF_WAIT_ASKED && must_wait)) {
      must_wait = !is_blocked(answer(t, w));
      mprof_sys_yield();
    } else if (atomic_compare_exchange_weak(&t->wait, &now, next)) {
      return now == MPROF_WAIT_ASKED ? 0 : now & ~MPROF_WAIT_BITS;
    }
    now = atomic_load_explicit(&t->wait, memory_order_relaxed);
  }
}

// Extends t->range, the part of the thread's own stack that is known to be
// readable, down to the wait at address w. Changes nothing if w is more than
// NEAR_BYTES below this part. If the struct mprof_wait of a waiting thread lies
// in t->range, the thread may end its wait while another thread reads its
// stack, because t->range stays readable.
#define NEAR_BYTES 65536u

static void know_stack(struct mprof_thread *t, uintptr_t w) {
  struct mprof_stack_range foreign;
  if (mprof_unlikely(t->range.lo - w - 1 < NEAR_BYTES))
    mprof_stack_enter(&t->range, &foreign, w & -(uintptr_t)16);
}

// Returns whether the thread has left the wait at address `outer` by a longjmp.
// A nested wait at address w must lie below `outer` on the thread's own stack.
// If w does not lie below `outer`, the outer wait no longer exists.
static bool was_left(const struct mprof_thread *t, uintptr_t outer,
                     uintptr_t w) {
  return outer <= w && outer >= t->range.lo && w < t->range.hi;
}

void mprof_wait_note(struct mprof_wait *w) {
  struct mprof_thread *t = mprof_thread_self(false);
  if (mprof_unlikely(!t))
    return;
  const uintptr_t *frame = (const uintptr_t *)w->frame;
  w->fp = frame[0];
  w->pc = mprof_return_address(frame[1]);
#if !MPROF_RA_IS_PUSHED
  w->sp = mprof_frame_end(w->frame);
#endif
  know_stack(t, (uintptr_t)w);
  uintptr_t outer = exchange(t, (uintptr_t)w, w);
  w->outer = was_left(t, outer, (uintptr_t)w) ? 0 : outer;
  w->is_noted = true;
  mprof_thread_is_noting(t);
}

void mprof_wait_note_end(struct mprof_wait *w) {
  struct mprof_thread *t = mprof_tls.self;
  w->is_noted = false;
  if (mprof_unlikely(!t))
    return;
  if (mprof_unlikely(atomic_load(&mprof_round.active) != 0))
    answer(t, w);
  exchange(t, w->outer, w);
}

// --- may a running thread be in a system call of an unnoted wait? ---
//
// The kernel may report the thread as running although the thread is in the
// call: the thread may not sleep yet, or may just have been woken. One of these
// two facts proves that a thread is no longer in an unnoted wait:
// - The thread has begun a noted wait. From then on, it notes all its waits.
// - The thread has used a processor for PROOF_NS and has not slept meanwhile. A
//   call that can fail with EINTR goes to sleep within microseconds, and
//   returns within microseconds after it is woken. A read or write that runs
//   for longer does not fail with EINTR: it returns the number of bytes that it
//   has transferred. (Time in which a hypervisor has taken the processor away
//   may count as used.)

enum { PROOF_NS = 2000000 };

void mprof_thread_is_noting(struct mprof_thread *t) {
  atomic_store_explicit(&t->is_noting, true, memory_order_release);
}

bool mprof_is_past_unnoted(struct mprof_thread_slot *slot,
                           const struct mprof_proc_thread *p) {
  const struct mprof_thread *t = slot->thread;
  if (mprof_contention.notes_from_start ||
      (t && atomic_load_explicit(&t->is_noting, memory_order_acquire)))
    return true;
  if (slot->ran_ns != 0 && slot->sleeps == p->sleeps)
    return p->ran_ns - slot->ran_ns >= PROOF_NS;
  // This is the first observation. Here slot->ran_ns is read after p->sleeps.
  // In a later observation, p->ran_ns is read before p->sleeps. So if both
  // observations have the same number of sleeps, the thread has not slept
  // between the two reads of ran_ns.
  slot->ran_ns = mprof_sys_thread_ran_ns(slot->tid);
  slot->sleeps = p->sleeps;
  slot->tries++;
  return false;
}

// --- begin and end of a thread ---

void mprof_stacks_enter_locked(struct mprof_thread *t) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  // t->holds may still have records of locks that an ended thread held, because
  // the struct *t is reused. Clear these records.
  if (t->holds)
    *t->holds = (struct mprof_holds){.has_strayed = false};
  if (mprof_likely(atomic_load(&mprof_round.active) == 0))
    return;
  atomic_fetch_add(&mprof_round.users, 1);
  const unsigned round = atomic_load(&mprof_round.active);
  struct mprof_thread_slot *slot =
      round == 0 ? NULL : mprof_slot_of(mprof_round.stacks, t->tid);
  if (slot) {
    slot->thread = t;
    atomic_store(&t->slot, mprof_slot_number(mprof_round.stacks, slot));
    atomic_store(&t->round, round);
    if (slot->is_asked && atomic_load(&slot->state) == MPROF_SLOT_ABSENT)
      atomic_store(&t->wait, MPROF_WAIT_ASKED);
  }
  mprof_round_leave();
}

void mprof_stacks_until_unread(const struct mprof_thread *t) {
  while (atomic_load(&mprof_round.reading) == t)
    mprof_sys_yield();
}
