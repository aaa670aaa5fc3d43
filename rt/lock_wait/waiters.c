// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of waiters; see waiters.h. The charge of a release is computed in
// constant time. Let n threads wait for a lock. Let their waits begin at the
// times s1..sn, and let c be the time of the last charged release. A release at
// time t must be charged with the sum of t - max(si, c) over the waiters. The
// record of the lock has the field `sum`, which is the sum of max(si, c). The
// charge is therefore n * t - sum. After the charge, c is t, so sum becomes n *
// t. A waiter that leaves subtracts its own max(si, c) from sum.

#include "lock_wait/waiters.h"

#include "lock_wait/wake_marks.h"
#include "sys/abi_words.h"
#include "sys/assert.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/persistent.h"
#include "trace_hooks/trace_hooks.h"

// The record of a lock or another object for which threads wait.
struct waited {
  struct waited *next;
  uintptr_t object;
  uint32_t waiters; // number of waiting threads
  uint32_t holders; // threads counted by mprof_waiters_hold
  uint64_t sum;     // sum of max(start, charged) over all waiters, in ticks
  uint64_t charged; // time of the last charged release, in ticks; 0: none
  // Marks, which link wakeups to the releases that caused them (wake_marks.h).
  // NULL before the first mark.
  struct mprof_wake_marks *marks;
};

static struct slot {
  // Guards the rest of the slot and the slot's word in __mprof_waiters. Each
  // slot has a separate cache line, so that threads that use neighbouring slots
  // do not slow each other down.
  _Alignas(64) struct mprof_lock lock;
  struct waited *used, *unused;
} slots[MPROF_WAITER_SLOTS];

static struct slot *lock_slot(uintptr_t object) {
  struct slot *s = &slots[mprof_waiter_slot(object)];
  s->lock.rank = MPROF_RANK_WAITERS;
  mprof_lock_acquire(&s->lock);
  return s;
}

static struct waited *find_locked(struct slot *s, uintptr_t object) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WAITERS));
  struct waited *w = s->used;
  while (w && w->object != object)
    w = w->next;
  return w;
}

// Returns the word of the object's slot in __mprof_waiters. Instrumented code
// reads the word without the slot's lock. Such a read may miss a waiter, but
// only a waiter that has just begun to wait.
static uint32_t word_of(uintptr_t object) {
  return __atomic_load_n(&__mprof_waiters[mprof_waiter_slot(object)],
                         __ATOMIC_RELAXED);
}

static void set_word_locked(uintptr_t object, uint32_t value) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WAITERS));
  __atomic_store_n(&__mprof_waiters[mprof_waiter_slot(object)], value,
                   __ATOMIC_RELAXED);
}

static struct waited *make_locked(struct slot *s, uintptr_t object) {
  struct waited *w = find_locked(s, object);
  if (w)
    return w;
  w = s->unused;
  if (w)
    s->unused = w->next;
  else if (!(w = mprof_persistent_alloc(sizeof(*w))))
    return NULL;
  *w = (struct waited){.next = s->used, .object = object, .marks = w->marks};
  if (mprof_unlikely(w->marks != NULL))
    mprof_wake_marks_clear(w->marks);
  s->used = w;
  set_word_locked(object, word_of(object) + 1);
  return w;
}

static void drop_if_idle_locked(struct slot *s, struct waited *w) {
  if (w->waiters != 0 || w->holders != 0)
    return;
  struct waited **link = &s->used;
  while (*link != w)
    link = &(*link)->next;
  *link = w->next;
  w->next = s->unused;
  s->unused = w;
  MPROF_ASSERT((word_of(w->object) & (MPROF_WAITER_ANY - 1)) != 0);
  uint32_t word = word_of(w->object) - 1;
  if ((word & ~MPROF_WAITER_ANY) == MPROF_WAITER_CAME)
    word &= ~MPROF_WAITER_CAME;
  set_word_locked(w->object, word);
}

bool mprof_waiters_enter(uintptr_t object, uint64_t start) {
  struct slot *s = lock_slot(object);
  struct waited *w = make_locked(s, object);
  if (w) {
    set_word_locked(object, word_of(object) | MPROF_WAITER_CAME);
    w->waiters++;
    w->sum += start > w->charged ? start : w->charged;
  }
  mprof_lock_release(&s->lock);
  return w != NULL;
}

uint64_t mprof_waiters_leave(uintptr_t object, uint64_t start,
                             struct mprof_trace_mark *mark) {
  uint64_t released = 0;
  if (mark)
    *mark = (struct mprof_trace_mark){.buf = NULL};
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w && w->waiters > 0) {
    released = w->charged > start ? w->charged : 0;
    if (mprof_unlikely(w->marks != NULL) && released && mark)
      *mark = mprof_wake_marks_take(w->marks, start);
    w->sum -= released ? released : start;
    if (--w->waiters == 0)
      w->sum = 0;
    drop_if_idle_locked(s, w);
  }
  mprof_lock_release(&s->lock);
  return released;
}

static void add_mark_locked(struct waited *w, enum mprof_wakes wakes,
                            const struct mprof_trace_waker *waker,
                            uint64_t now) {
  if (!w->marks)
    w->marks = mprof_persistent_alloc(sizeof(*w->marks));
  if (w->marks)
    mprof_wake_marks_add(w->marks, mprof_trace_hooks.put_wake(waker, now),
                         wakes);
}

struct mprof_charge
mprof_waiters_charge(uintptr_t object, enum mprof_wakes wakes,
                     const struct mprof_trace_waker *waker) {
  struct mprof_charge c = {0, 0, 0};
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w) {
    set_word_locked(object, word_of(object) & ~MPROF_WAITER_CAME);
    uint64_t now = mprof_clock_now();
    // The clocks of two processors may differ by a few ticks, so `owed` may be
    // negative. In that case the release is not charged.
    int64_t owed = (int64_t)(w->waiters * now - w->sum);
    if (owed > 0 && now > w->charged) {
      c = (struct mprof_charge){(uint64_t)owed, now, w->charged};
      w->sum += c.ticks;
      w->charged = now;
      if (mprof_unlikely(waker != NULL))
        add_mark_locked(w, wakes, waker, now);
    }
  }
  mprof_lock_release(&s->lock);
  return c;
}

void mprof_waiters_uncharge(uintptr_t object, const struct mprof_charge *c) {
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w && w->charged == c->stamp) {
    w->sum -= c->ticks;
    w->charged = c->before;
    set_word_locked(object, word_of(object) | MPROF_WAITER_CAME);
  }
  mprof_lock_release(&s->lock);
}

void mprof_waiters_skip(uintptr_t object) {
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w && w->marks)
    mprof_wake_marks_skip(w->marks);
  mprof_lock_release(&s->lock);
}

bool mprof_waiters_hold(uintptr_t object) {
  struct slot *s = lock_slot(object);
  struct waited *w = make_locked(s, object);
  bool is_held = w && w->holders++ > 0;
  mprof_lock_release(&s->lock);
  return is_held;
}

void mprof_waiters_let_go(uintptr_t object) {
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w && w->holders > 0) {
    w->holders--;
    drop_if_idle_locked(s, w);
  }
  mprof_lock_release(&s->lock);
}

void mprof_waiters_reset(void) {
  for (size_t i = 0; i < MPROF_WAITER_SLOTS; i++) {
    mprof_lock_reset(&slots[i].lock);
    slots[i].used = slots[i].unused = NULL;
    __mprof_waiters[i] &= MPROF_WAITER_ANY;
  }
}
