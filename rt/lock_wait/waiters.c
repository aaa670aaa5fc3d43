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

// Sets is_counted of the signal *x, after the caller has counted the woken
// threads as waiters for the mutex, by the stacks in *x. Changes *x to the
// threads that have already returned from their waits. For each of these, the
// caller must remove one waiter for the mutex.
static void signals_counted(struct signals *s, struct mprof_signal *x) {
  for (uint32_t i = 0; s && i < s->len; i++) {
    struct mprof_signal *y = &s->v[i];
    if (y->id != x->id)
      continue;
    y->is_counted = true;
    y->from = x->from;
    x->woken -= y->woken;
    for (uint32_t k = 0; k < MPROF_SIGNAL_STACKS; k++) {
      y->stacks[k].waiter = x->stacks[k].waiter;
      x->stacks[k].n -= y->stacks[k].n;
    }
  }
}

// Chooses one of the stacks of the woken threads for a thread with the stack
// `own`. Returns it, or 0 if the thread is one of those whose stacks are not
// known.
static uint32_t take_stack(struct mprof_signal *x, uint32_t own) {
  uint32_t known = 0, *n = NULL, stack = 0;
  for (uint32_t i = 0; i < MPROF_SIGNAL_STACKS; i++) {
    known += x->stacks[i].n;
    if (x->stacks[i].n != 0 && (n == NULL || x->stacks[i].waiter == own)) {
      n = &x->stacks[i].n;
      stack = x->stacks[i].waiter;
    }
  }
  if (n == NULL || (stack != own && known < x->woken))
    return 0;
  --*n;
  return stack;
}

static void take_one(struct signals *s, uint32_t i, uint32_t own,
                     struct mprof_signal *taken) {
  const uint32_t stack = take_stack(&s->v[i], own);
  *taken = s->v[i];
  taken->waiter = stack;
  s->woken--;
  if (--s->v[i].woken == 0) {
    s->len--;
    memmove(&s->v[i], &s->v[i + 1], (s->len - i) * sizeof(s->v[0]));
  }
}

// Finds the signal that has woken a thread, which now returns from its wait.
// start: the time at which the thread began to wait.
// own: the thread's stack (struct mprof_waiter).
// waiting: how many other threads have not returned from their waits.
// Takes the oldest signal that was sent at `start` or later. If there is none,
// but more threads were woken than `waiting`, this thread must be one of the
// woken threads. In this case takes the oldest signal of the list. Stores the
// signal in *taken and returns true. Returns false if no signal has woken the
// thread.
static bool signals_take(struct signals *s, uint64_t start, uint32_t own,
                         uint32_t waiting, struct mprof_signal *taken) {
  MPROF_ASSERT(s->len <= MPROF_SIGNALS);
  for (uint32_t i = 0; i < s->len; i++)
    if (s->v[i].time >= start) {
      take_one(s, i, own, taken);
      return true;
    }
  if (s->woken <= waiting)
    return false;
  take_one(s, 0, own, taken);
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

// The waiters for an object that have the same stack.
struct group {
  struct group *next;
  uint32_t stack; // as in struct mprof_waiter
  uint32_t n;     // number of waiters
  uint32_t old;   // number of those that waited at the last charged release
  uint64_t sum, sum_before; // as now.sum and before.sum, for this group
  // The earliest start of the waiters that came since the last charged release,
  // or an earlier time if that waiter has left; 0: none came.
  uint64_t first;
};

// The record of a lock or another object for which threads wait.
struct waited {
  struct waited *next;
  struct group *groups; // longest waiting first
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
  struct group *unused_groups;
  struct mprof_shares *unused_shares;
  uint32_t shares_made; // number of shares that exist
  // See mprof_waiters_epoch. Other threads read it without the lock.
  _Atomic uint32_t epoch;
  // Number of acquisitions that are still to be noted. Atomic.
  _Atomic uint32_t notes_left;
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
  MPROF_ASSERT((word_of(w->object) & (MPROF_WAITER_NOTES - 1)) != 0);
  uint32_t word = word_of(w->object) - 1;
  if ((word & ~MPROF_WAITER_FLAGS) == MPROF_WAITER_CAME)
    word &= ~MPROF_WAITER_CAME;
  set_word_locked(w->object, word);
}

// --- groups of waiters ---

static struct group **find_group(struct waited *w, uint32_t stack) {
  struct group **g = &w->groups;
  while (*g != NULL && (*g)->stack != stack)
    g = &(*g)->next;
  return g;
}

// Returns the group of the stack, or NULL if there are too many.
static struct group *make_group_locked(struct slot *s, struct waited *w,
                                       uint32_t stack) {
  struct group **link = find_group(w, stack), *g = *link;
  if (g != NULL || stack == 0)
    return g;
  uint32_t count = 0;
  for (g = w->groups; g != NULL; g = g->next)
    count++;
  if (count >= MPROF_WAITER_STACKS)
    return NULL;
  g = s->unused_groups;
  if (g != NULL)
    s->unused_groups = g->next;
  else if (!(g = mprof_persistent_try_alloc(sizeof(*g))))
    return NULL;
  *g = (struct group){.stack = stack};
  return *link = g;
}

static void enter_group(const struct waited *w, struct group *g, uint64_t start,
                        uint32_t n) {
  g->n += n;
  g->sum += n * time_in(&w->now, start);
  g->sum_before += n * time_in(&w->before, start);
  if (start <= w->now.charged)
    g->old += n;
  else if (g->first == 0 || start < g->first)
    g->first = start;
}

static void free_group_locked(struct slot *s, struct group **link) {
  struct group *g = *link;
  *link = g->next;
  g->next = s->unused_groups;
  s->unused_groups = g;
}

// Removes a waiter from its group, and frees the group of the last waiter.
static void leave_group_locked(struct slot *s, struct waited *w,
                               struct mprof_waiter *who, uint64_t start) {
  struct group **link = find_group(w, who->stack), *g = *link;
  who->charged = 0;
  if (g == NULL || who->stack == 0)
    return;
  if (w->now.charged > who->from)
    who->charged = w->now.charged - who->from;
  g->sum -= time_in(&w->now, start);
  g->sum_before -= time_in(&w->before, start);
  if (start <= w->now.charged && g->old > 0)
    g->old--;
  if (--g->n == 0)
    free_group_locked(s, link);
}

// Returns the longest time that a waiter of the group has waited since the last
// charged release.
static uint64_t worst_of(const struct waited *w, const struct group *g,
                         uint64_t ticks, uint64_t now) {
  const uint64_t since =
      g->old != 0 || g->first == 0 ? w->now.charged : g->first;
  const uint64_t worst = now > since ? now - since : 0;
  return g->n == 1 || worst > ticks ? ticks : worst;
}

// Number of shares of a slot. Shares are lost if a thread is cancelled.
enum { MOST_SHARES = 64 };

static struct mprof_shares *new_shares_locked(struct slot *s) {
  struct mprof_shares *x = s->unused_shares;
  if (x != NULL)
    s->unused_shares = x->next;
  else if (s->shares_made < MOST_SHARES &&
           (x = mprof_persistent_try_alloc(sizeof(*x))) != NULL)
    s->shares_made++;
  return x;
}

// Divides the charge `total` of the waiters for w among their stacks. Call
// before w->now is changed.
static struct mprof_shares *share_locked(struct slot *s, struct waited *w,
                                         uint64_t total, uint64_t now) {
  struct mprof_shares *x = new_shares_locked(s);
  if (x == NULL)
    return NULL;
  x->queue = w->waiters;
  x->taken = 0;
  x->len = 0;
  uint32_t others = w->waiters;
  for (struct group *g = w->groups; g != NULL; g = g->next) {
    const uint64_t ticks = g->n * now - g->sum;
    x->v[x->len++] = (struct mprof_share){.stack = g->stack,
                                          .n = g->n,
                                          .ticks = ticks,
                                          .worst = worst_of(w, g, ticks, now)};
    total -= ticks;
    others -= g->n;
  }
  if (others != 0)
    x->v[x->len++] = (struct mprof_share){
        .n = others, .ticks = total, .worst = total / others};
  return x;
}

// Makes the groups of w ready for the time after a charge.
static void charge_groups_locked(struct waited *w, uint64_t now) {
  for (struct group *g = w->groups; g != NULL; g = g->next) {
    g->sum_before = g->sum;
    g->sum = g->n * now;
    g->old = g->n;
    g->first = 0;
  }
}

void mprof_waiters_forget_shares(uintptr_t object,
                                 struct mprof_shares *shares) {
  struct slot *s = lock_slot(object);
  shares->next = s->unused_shares;
  s->unused_shares = shares;
  mprof_lock_release(&s->lock);
}

// --- notes of acquisitions ---

// Number of acquisitions that are noted after a charged release. If none of
// their releases is charged, the lock is not contended any more.
enum { NOTES = 16 };

static void want_notes_locked(struct slot *s, uintptr_t object) {
  atomic_store_explicit(&s->notes_left, NOTES, memory_order_relaxed);
  set_word_locked(object, word_of(object) | MPROF_WAITER_NOTES);
}

uint32_t mprof_waiters_epoch(uintptr_t object) {
  return atomic_load_explicit(&slots[mprof_waiter_slot(object)].epoch,
                              memory_order_relaxed);
}

void mprof_waiters_noted(uintptr_t object) {
  struct slot *s = &slots[mprof_waiter_slot(object)];
  const uint32_t left =
      atomic_load_explicit(&s->notes_left, memory_order_relaxed);
  if (left > 1) {
    // A lost decrement does no harm.
    atomic_store_explicit(&s->notes_left, left - 1, memory_order_relaxed);
    return;
  }
  s = lock_slot(object);
  if (atomic_load_explicit(&s->notes_left, memory_order_relaxed) <= 1) {
    atomic_fetch_add(&s->epoch, 1);
    set_word_locked(object, word_of(object) & ~MPROF_WAITER_NOTES);
  }
  mprof_lock_release(&s->lock);
}

// --- waiters ---

// Adds n waiters for object, which have waited since start. mutex: see struct
// waited. flag: bit to set in the slot's word, MPROF_WAITER_CAME or 0. Returns
// false if there is no memory.
static bool enter(uintptr_t object, uintptr_t mutex, uint64_t start, uint32_t n,
                  uint32_t flag, struct mprof_waiter *who) {
  struct slot *s = lock_slot(object);
  struct waited *w = make_locked(s, object);
  if (w) {
    set_word_locked(object, word_of(object) | flag);
    w->mutex = mutex;
    w->waiters += n;
    w->now.sum += n * time_in(&w->now, start);
    w->before.sum += n * time_in(&w->before, start);
    struct group *g = who ? make_group_locked(s, w, who->stack) : NULL;
    if (g != NULL)
      enter_group(w, g, start, n);
    else if (who)
      who->stack = 0;
    if (who)
      who->from = time_in(&w->now, start);
  }
  mprof_lock_release(&s->lock);
  return w != NULL;
}

bool mprof_waiters_enter(uintptr_t object, uintptr_t mutex, uint64_t start,
                         struct mprof_waiter *who) {
  return enter(object, mutex, start, 1, MPROF_WAITER_CAME, who);
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
                             struct mprof_signal *signal,
                             struct mprof_waiter *who) {
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
    if (who)
      leave_group_locked(s, w, who, start);
    if (--w->waiters == 0) {
      w->now.sum = w->before.sum = 0;
      while (w->groups != NULL)
        free_group_locked(s, &w->groups);
    }
    if (signal && w->signals)
      signals_take(w->signals, start, who ? who->stack : 0, w->waiters, signal);
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
        mprof_trace_put_wake(waker, c->stamp, w->object,
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

// Stores in *x the stacks of the threads that the signal wakes.
static void find_stacks_locked(const struct waited *w, struct mprof_signal *x) {
  uint32_t len = 0, left = x->woken;
  for (const struct group *g = w->groups; g && len < MPROF_SIGNAL_STACKS;
       g = g->next) {
    uint32_t woken = 0; // threads of this stack that earlier signals have woken
    for (uint32_t i = 0; w->signals && i < w->signals->len; i++)
      for (uint32_t k = 0; k < MPROF_SIGNAL_STACKS; k++)
        if (w->signals->v[i].stacks[k].waiter == g->stack)
          woken += w->signals->v[i].stacks[k].n;
    const uint32_t asleep = g->n > woken ? g->n - woken : 0;
    const uint32_t n = asleep < left ? asleep : left;
    if (n == 0)
      continue;
    x->stacks[len].waiter = g->stack;
    x->stacks[len++].n = n;
    left -= n;
  }
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
  find_stacks_locked(w, &x);
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

struct mprof_charge mprof_waiters_charge(uintptr_t object,
                                         enum mprof_wakes wakes,
                                         const struct mprof_trace_waker *waker,
                                         bool wants_shares) {
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
      if (wants_shares && (wakes == MPROF_WAKES_NEXT_OWNER ||
                           (wakes == MPROF_WAKES_ONE && c.has_fallen))) {
        c.shares = share_locked(s, w, c.ticks, now);
        want_notes_locked(s, object);
      }
      charge_groups_locked(w, now);
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
  struct mprof_signal x = *signal;
  uint32_t known = 0;
  for (uint32_t i = 0; i < MPROF_SIGNAL_STACKS; i++) {
    struct mprof_waiter who = {.stack = x.stacks[i].waiter};
    known += x.stacks[i].n;
    if (x.stacks[i].n != 0 &&
        !enter(x.mutex, 0, x.time, x.stacks[i].n, 0, &who))
      return;
    x.stacks[i].waiter = who.stack;
    x.from = who.from > x.from ? who.from : x.from;
  }
  if (known != x.woken && !enter(x.mutex, 0, x.time, x.woken - known, 0, NULL))
    return;
  struct slot *s = lock_slot(condition);
  struct waited *w = find_locked(s, condition);
  signals_counted(w ? w->signals : NULL, &x);
  mprof_lock_release(&s->lock);
  for (uint32_t i = 0; i < MPROF_SIGNAL_STACKS; i++)
    for (; x.stacks[i].n != 0; x.stacks[i].n--, x.woken--) {
      struct mprof_waiter who = {.stack = x.stacks[i].waiter};
      mprof_waiters_leave(x.mutex, x.time, NULL, NULL, &who);
    }
  for (; x.woken != 0; x.woken--)
    mprof_waiters_leave(x.mutex, x.time, NULL, NULL, NULL);
}

void mprof_waiters_uncharge(uintptr_t object, const struct mprof_charge *c) {
  struct slot *s = lock_slot(object);
  struct waited *w = find_locked(s, object);
  if (w && w->now.charged == c->stamp) {
    w->now = w->before;
    for (struct group *g = w->groups; g != NULL; g = g->next)
      g->sum = g->sum_before;
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
    slots[i].unused_groups = NULL;
    slots[i].unused_shares = NULL;
    slots[i].shares_made = 0;
    __mprof_waiters[i] &= MPROF_WAITER_ANY;
  }
}
