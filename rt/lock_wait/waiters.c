// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of waiters; see waiters.h. The charge of a release, that is, the
// time that threads have waited since the last charged release, is computed in
// constant time. Let n threads wait for a lock. Let their waits begin at the
// times s1..sn, and let c be the time of the last charged release. A release at
// time t must be charged with the sum of t - max(si, c) over the waiters. The
// record of the lock has the field `sum`, which is the sum of max(si, c). The
// charge is therefore n * t - sum. After the charge, c is t, so sum becomes n *
// t. A waiter that leaves subtracts its own max(si, c) from sum. The record
// also has c and sum without the last charge, in case the release fails.

#include "lock_wait/waiters.h"

#include "sys/abi_words.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/persistent.h"
#include "trace/trace_events.h"

#include <pthread.h>
#include <string.h>

// --- marks ---
//
// If several releases wake one thread each, the first thread that runs is
// assumed to be woken by the first release, and so on. The kernel may run the
// threads in another order. Then a thread gets the mark of a release that woke
// a different thread. But each release still has exactly one woken thread.

void mprof_wake_marks_clear(struct mprof_wake_marks *m) {
  m->len = 0;
  m->lost.buf = NULL;
}

static void remove_at(struct mprof_wake_marks *m, uint32_t i) {
  MPROF_ASSERT(i < m->len && m->len <= MPROF_WAKE_MARKS);
  m->len--;
  memmove(&m->marks[i], &m->marks[i + 1], (m->len - i) * sizeof(m->marks[0]));
}

void mprof_wake_marks_add(struct mprof_wake_marks *m,
                          struct mprof_trace_mark mark,
                          enum mprof_wakes wakes) {
  if (wakes == MPROF_WAKES_NEXT_OWNER)
    mprof_wake_marks_clear(m);
  if (m->len == MPROF_WAKE_MARKS) {
    m->lost = m->marks[0].mark;
    remove_at(m, 0);
  }
  m->marks[m->len].mark = mark;
  m->marks[m->len].wakes = wakes;
  m->len++;
}

struct mprof_trace_mark mprof_wake_marks_take(struct mprof_wake_marks *m,
                                              uint64_t start) {
  const uint64_t ticks = mprof_trace_ticks(start);
  for (uint32_t i = 0; i < m->len; i++) {
    if (m->marks[i].mark.ticks < ticks)
      continue;
    const struct mprof_trace_mark mark = m->marks[i].mark;
    if (m->marks[i].wakes == MPROF_WAKES_ONE)
      remove_at(m, i);
    return mark;
  }
  // All marks are older than the begin of the wait. But a mark is added a
  // moment before its release happens, and the thread may have begun to wait in
  // between. If so, the newest mark belongs to the release that woke this
  // thread. If this release wakes only one thread, no other thread needs the
  // mark, so it is removed.
  if (m->len != 0 && m->marks[m->len - 1].wakes == MPROF_WAKES_ONE)
    m->len--;
  if (m->lost.buf && m->lost.ticks >= ticks)
    return m->lost;
  return (struct mprof_trace_mark){.buf = NULL};
}

void mprof_wake_marks_skip(struct mprof_wake_marks *m) {
  if (m->len != 0 && m->marks[0].wakes == MPROF_WAKES_ONE)
    remove_at(m, 0);
}

// --- signals of a condition ---
//
// A list of the signals whose woken threads have not yet returned from
// pthread_cond_wait. A woken thread needs the condition's mutex before it can
// return. Therefore the thread is counted as a waiter for the mutex from the
// time of the signal on. So its waiting time is charged to the threads that
// unlock the mutex. When the thread returns, it finds its signal, with this
// time, in the list. The list is guarded by the lock of the condition's slot.
//
// The kernel does not tell which thread a signal has woken. If several signals
// wake one thread each, the first thread that returns is assumed to be woken by
// the first signal, and so on. So the recorded waiting times of two threads may
// be exchanged, but the sum of these times is right.

struct signals {
  uint32_t len;
  uint32_t woken; // sum of the fields `woken` of all signals
  struct mprof_signal v[MPROF_SIGNALS]; // oldest first
};

// Adds signal x, which has woken x.woken threads. Returns false if the list is
// full.
static bool signals_add(struct signals *s, struct mprof_signal x) {
  if (s->len == MPROF_SIGNALS)
    return false;
  s->v[s->len++] = x;
  s->woken += x.woken;
  return true;
}

// Sets is_counted of the signal with this id, after the caller has counted the
// woken threads as waiters for the mutex. Returns how many of these threads
// have not yet returned from their waits. For each thread that has already
// returned, the caller must remove one waiter for the mutex.
static uint32_t signals_counted(struct signals *s, uint64_t id) {
  for (uint32_t i = 0; i < s->len; i++)
    if (s->v[i].id == id) {
      s->v[i].is_counted = true;
      return s->v[i].woken;
    }
  return 0;
}

static void take_one(struct signals *s, uint32_t i,
                     struct mprof_signal *taken) {
  *taken = s->v[i];
  s->woken--;
  if (--s->v[i].woken == 0) {
    s->len--;
    memmove(&s->v[i], &s->v[i + 1], (s->len - i) * sizeof(s->v[0]));
  }
}

// Finds the signal that has woken a thread, which now returns from its wait.
// start: the time at which the thread began to wait.
// waiting: how many other threads have not returned from their waits.
// Takes the oldest signal that was sent at `start` or later. If there is none,
// but more threads were woken than `waiting`, this thread must be one of the
// woken threads. In this case takes the oldest signal of the list. Stores the
// signal in *taken and returns true. Returns false if no signal has woken the
// thread.
static bool signals_take(struct signals *s, uint64_t start, uint32_t waiting,
                         struct mprof_signal *taken) {
  MPROF_ASSERT(s->len <= MPROF_SIGNALS);
  for (uint32_t i = 0; i < s->len; i++)
    if (s->v[i].time >= start) {
      take_one(s, i, taken);
      return true;
    }
  if (s->woken <= waiting)
    return false;
  take_one(s, 0, taken);
  return true;
}

// --- the table ---

// See the head of this file; in ticks.
struct times {
  uint64_t charged; // c: time of the last charged release; 0: none
  uint64_t sum;     // sum over all waiters of time_in()
};

// Returns the part of sum of a waiter that has waited since start.
static uint64_t time_in(const struct times *t, uint64_t start) {
  return start > t->charged ? start : t->charged;
}

// The record of a lock or another object for which threads wait.
struct waited {
  struct waited *next;
  uintptr_t object;
  uint32_t waiters; // number of waiting threads
  uint32_t holders; // threads that hold the object or are about to hold it
  uint32_t value;   // if the object is a futex: see mprof_waiters_expect
  struct times now, before; // before: without the last charge
  // Marks, which link wakeups to the releases that caused them.
  // NULL before the first mark.
  struct mprof_wake_marks *marks;
  uintptr_t mutex; // if the object is a condition: its mutex; 0: none
  // Signals whose woken threads have not returned. NULL before the first one.
  struct signals *signals;
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
  *w = (struct waited){.next = s->used,
                       .object = object,
                       .marks = w->marks,
                       .signals = w->signals};
  if (mprof_unlikely(w->marks != NULL))
    mprof_wake_marks_clear(w->marks);
  MPROF_ASSERT(w->signals == NULL || w->signals->woken == 0);
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

// Adds n waiters for object, which have waited since start. mutex: see struct
// waited. flag: bit to set in the slot's word, MPROF_WAITER_CAME or 0. Returns
// false if there is no memory.
static bool enter(uintptr_t object, uintptr_t mutex, uint64_t start, uint32_t n,
                  uint32_t flag) {
  struct slot *s = lock_slot(object);
  struct waited *w = make_locked(s, object);
  if (w) {
    set_word_locked(object, word_of(object) | flag);
    w->mutex = mutex;
    w->waiters += n;
    w->now.sum += n * time_in(&w->now, start);
    w->before.sum += n * time_in(&w->before, start);
  }
  mprof_lock_release(&s->lock);
  return w != NULL;
}

bool mprof_waiters_enter(uintptr_t object, uintptr_t mutex, uint64_t start) {
  return enter(object, mutex, start, 1, MPROF_WAITER_CAME);
}

void mprof_waiters_expect(uintptr_t object, uint32_t value) {
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w)
    w->value = value;
  mprof_lock_release(&s->lock);
}

uint64_t mprof_waiters_leave(uintptr_t object, uint64_t start,
                             struct mprof_trace_mark *mark,
                             struct mprof_signal *signal) {
  uint64_t released = 0;
  if (mark)
    *mark = (struct mprof_trace_mark){.buf = NULL};
  if (signal)
    *signal = (struct mprof_signal){.time = 0};
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w && w->waiters > 0) {
    released = w->now.charged > start ? w->now.charged : 0;
    if (mprof_unlikely(w->marks != NULL) && released && mark)
      *mark = mprof_wake_marks_take(w->marks, start);
    w->now.sum -= time_in(&w->now, start);
    w->before.sum -= time_in(&w->before, start);
    if (--w->waiters == 0)
      w->now.sum = w->before.sum = 0;
    if (signal && w->signals)
      signals_take(w->signals, start, w->waiters, signal);
    drop_if_idle_locked(s, w);
  }
  mprof_lock_release(&s->lock);
  return released;
}

static void add_mark_locked(struct waited *w, enum mprof_wakes wakes,
                            const struct mprof_trace_waker *waker,
                            const struct mprof_charge *c) {
  if (!w->marks)
    w->marks = mprof_persistent_alloc(sizeof(*w->marks));
  if (w->marks)
    mprof_wake_marks_add(
        w->marks,
        // Only the release of a lock is charged with the time of the waiters,
        // and not, for example, a signal: see WAKE in entry_lock.h.
        mprof_trace_put_wake(waker, c->stamp,
                             wakes == MPROF_WAKES_NEXT_OWNER ? c->ticks : 0),
        wakes);
}

// Returns whether all threads that wait for the condition of w are in the table
// of waiters. Threads are missing if they began to wait before the profile was
// switched on, or in uninstrumented code. A signal may wake such a thread, so
// it is not known whether the signal wakes a thread of the table. Also returns
// false if libc knows of no waiting thread, because a signal then wakes none.
static bool has_all_waiters(const struct waited *w) {
#ifdef __GLIBC__
  // glibc counts the threads in pthread_cond_wait that were not woken. The
  // count is in the bits of __wrefs above the lowest three.
  const pthread_cond_t *c = (const pthread_cond_t *)w->object;
  const unsigned known =
      __atomic_load_n(&c->__data.__wrefs, __ATOMIC_RELAXED) >> 3;
  return known != 0 && known <= w->waiters;
#else
  (void)w;
  return false; // the number of musl's waiters is not known
#endif
}

// Adds a signal to the list of signals of the condition w, and returns the
// signal. The field `woken` of the result is 0 if the signal wakes no thread,
// or if the list is full.
static struct mprof_signal
add_signal_locked(struct waited *w, enum mprof_wakes wakes, uint64_t now) {
  static atomic_uint_fast64_t last_id;
  const uint32_t asleep =
      has_all_waiters(w) ? w->waiters - (w->signals ? w->signals->woken : 0)
                         : 0;
  struct mprof_signal x = {.id = atomic_fetch_add(&last_id, 1),
                           .time = now,
                           .mutex = w->mutex,
                           .woken = wakes == MPROF_WAKES_ALL ? asleep
                                    : asleep != 0            ? 1
                                                             : 0};
  if (!w->signals)
    w->signals = mprof_persistent_alloc(sizeof(*w->signals));
  if (x.woken != 0 && (!w->signals || !signals_add(w->signals, x)))
    x.woken = 0;
  return x;
}

// Sets has_fallen (waiters.h). The word is mapped, because a thread of the
// table waits for it, and cannot leave the table while the slot is locked.
// thread::park of Rust waits while the word is UINT32_MAX, and is no lock.
static bool has_fallen(const struct waited *w) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WAITERS));
  return w->waiters != 0 && w->value != 0 && w->value != UINT32_MAX &&
         __atomic_load_n((const uint32_t *)w->object, __ATOMIC_RELAXED) <=
             w->value;
}

struct mprof_charge
mprof_waiters_charge(uintptr_t object, enum mprof_wakes wakes,
                     const struct mprof_trace_waker *waker) {
  struct mprof_charge c = {.ticks = 0};
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w) {
    set_word_locked(object, word_of(object) & ~MPROF_WAITER_CAME);
    uint64_t now = mprof_clock_now();
    // The clocks of two processors may differ by a few ticks, so `owed` may be
    // negative. In that case the release is not charged.
    int64_t owed = (int64_t)(w->waiters * now - w->now.sum);
    if (owed > 0 && now > w->now.charged) {
      c = (struct mprof_charge){.ticks = (uint64_t)owed, .stamp = now};
      c.has_fallen = has_fallen(w);
      w->before = w->now;
      w->now = (struct times){.charged = now, .sum = w->waiters * now};
      if (mprof_unlikely(waker != NULL))
        add_mark_locked(w, wakes, waker, &c);
      if (w->mutex != 0 && wakes != MPROF_WAKES_NEXT_OWNER)
        c.signal = add_signal_locked(w, wakes, now);
    }
  }
  mprof_lock_release(&s->lock);
  return c;
}

// The condition and the mutex may have different slots, whose locks are never
// held together. Therefore this function first counts the threads as waiters
// for the mutex, and then sets the signal's field is_counted. Before the field
// is set, a woken thread may already have left the table of waiters. Such a
// thread does not remove itself from the waiters for the mutex, so this
// function removes it.
void mprof_waiters_count_woken(uintptr_t condition,
                               const struct mprof_signal *signal) {
  // If the flag MPROF_WAITER_CAME is set, the next unlock of the mutex is
  // charged with waiting time even if no thread sleeps. The call of enter()
  // does not set the flag, because an unlock need not be charged before a woken
  // thread sleeps in its wait for the mutex. From then on, the mutex itself
  // shows that a thread sleeps, and unlocks are charged.
  if (!enter(signal->mutex, 0, signal->time, signal->woken, 0))
    return;
  struct slot *s = lock_slot(condition);
  struct waited *w = find_locked(s, condition);
  uint32_t remaining =
      w && w->signals ? signals_counted(w->signals, signal->id) : 0;
  mprof_lock_release(&s->lock);
  for (; remaining < signal->woken; remaining++)
    mprof_waiters_leave(signal->mutex, signal->time, NULL, NULL);
}

void mprof_waiters_uncharge(uintptr_t object, const struct mprof_charge *c) {
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w && w->now.charged == c->stamp) {
    w->now = w->before;
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
