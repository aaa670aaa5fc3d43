// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records where each thread took the locks that it holds; see holds.h.
// Each thread has a hash table of MPROF_HOLDS records. The hash of a lock's
// address selects WAYS consecutive records of the table. These are the
// preferred records of the lock, one of which normally becomes the record of
// the lock.

#include "lock_wait/holds.h"

#include "lock_wait/hooked.h"
#include "lock_wait/lock_order.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/clock.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

// Number of preferred records of a lock.
enum { WAYS = 4 };

bool mprof_holds_on, mprof_tracks_locks;

void mprof_holds_init(void) {
  mprof_holds_on = mprof_flags.stuck || mprof_flags.stuck_report != 0;
  mprof_order_on = mprof_flags.lock_order;
  mprof_tracks_locks = mprof_holds_on || mprof_order_on;
  mprof_order_word = mprof_order_on && !mprof_holds_on ? MPROF_WAITER_ANY : 0;
  for (size_t i = 0; mprof_tracks_locks && i < MPROF_WAITER_SLOTS; i++)
    __mprof_waiters[i] |= MPROF_WAITER_ANY;
}

static struct mprof_hold *place_of(struct mprof_holds *h, uintptr_t lock,
                                   size_t way) {
  const size_t first = lock * 0x9e3779b97f4a7c15u >> 32;
  return &h->v[(first + way) % MPROF_HOLDS];
}

// An rwlock stores the thread id of its writer, but not the ids of its readers.
// Locks with a layout of their own are not rwlocks.
static bool is_needed(uint8_t kind, unsigned how) {
  return !MPROF_LOCKS_NAME_OWNERS || kind == MPROF_KIND_spin ||
         kind == MPROF_KIND_user ||
         (how & (MPROF_TAKES_SHARED | MPROF_TAKES_OPAQUE)) ==
             MPROF_TAKES_SHARED;
}

// Returns whether it is better to replace record x than record y.
static bool is_better(const struct mprof_hold *x, const struct mprof_hold *y) {
  if (x->lock == 0 || y->lock == 0)
    return x->lock == 0 && y->lock != 0;
  return x->is_needed != y->is_needed ? !x->is_needed : x->since < y->since;
}

// Returns the record to use for a lock. The first of these records that exists
// is returned:
// 1. the lock's present record
// 2. an unused record
// 3. the oldest record that is not needed (holds.h)
// 4. the oldest record, although it is needed. The caller overwrites it. But if
//    the new record of the lock would not be needed itself, NULL is returned.
// Only the preferred records of the lock are searched, unless all of them are
// in use and needed.
static struct mprof_hold *choose(struct mprof_holds *h, uintptr_t lock,
                                 bool is_lock_needed) {
  struct mprof_hold *best = NULL;
  for (size_t way = 0; way < MPROF_HOLDS; way++) {
    struct mprof_hold *x = place_of(h, lock, way);
    if (way == WAYS && (best->lock == 0 || !best->is_needed))
      break;
    if (x->lock == lock)
      return x;
    if (!best || is_better(x, best)) {
      best = x;
      h->has_strayed |= way >= WAYS;
    }
  }
  if (best->lock != 0 && best->is_needed) {
    if (!is_lock_needed)
      return NULL;
    h->lost++;
    mprof_stat_add(MPROF_STAT_holds_lost, 1);
  }
  return best;
}

// Stores in record x the stack that begins at `frame`.
static void set_stack(struct mprof_thread *t, struct mprof_hold *x,
                      uintptr_t frame) {
  enum mprof_stack_end end;
  size_t n =
      mprof_unwind_cfi(&t->range, frame, x->stack, MPROF_HOLD_FRAMES, &end);
  for (; n < MPROF_HOLD_FRAMES; n++)
    x->stack[n] = 0;
}

static void add(struct mprof_thread *t, uintptr_t lock, uint8_t kind,
                unsigned how, uintptr_t op, uintptr_t frame) {
  if (!t->holds && !(t->holds = mprof_persistent_alloc(sizeof(*t->holds))))
    return;
  const bool needed = is_needed(kind, how);
  struct mprof_hold *x = choose(t->holds, lock, needed);
  if (x == NULL)
    return;
  atomic_store_explicit(&x->lock, 0, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  x->op = op;
  x->kind = kind & 0x7f;
  x->is_needed = needed;
  x->since = mprof_clock_about();
  set_stack(t, x, frame);
  atomic_store_explicit(&x->lock, lock, memory_order_release);
}

void mprof_holds_add(uintptr_t lock, uint8_t kind, unsigned how, uintptr_t op,
                     uintptr_t frame) {
  if (!mprof_process_ready())
    return;
  if (!mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return;
  }
  struct mprof_thread *t = mprof_thread_self(false);
  if (t)
    add(t, lock, kind, how, op, frame);
  mprof_guard_leave();
}

static bool has_needed(const struct mprof_holds *h) {
  for (size_t i = 0; i < MPROF_HOLDS; i++)
    if (h->v[i].lock != 0 && h->v[i].is_needed)
      return true;
  return false;
}

void mprof_hold_dropped(uintptr_t lock) {
  struct mprof_holds *h = mprof_tls.self ? mprof_tls.self->holds : NULL;
  if (!h)
    return;
  for (size_t way = 0; way < (h->has_strayed ? MPROF_HOLDS : WAYS); way++) {
    struct mprof_hold *x = place_of(h, lock, way);
    if (x->lock == lock)
      x->lock = 0;
  }
  // If the loop has found no record of the lock, the record may have been
  // replaced and counted in `lost`. But `lost` is not decreased, because the
  // record may also be missing for another reason: the thread has taken the
  // lock twice, and its first release has removed the record. `lost` becomes 0
  // when the thread has no needed record.
  if (mprof_unlikely(h->lost != 0) && !has_needed(h))
    h->lost = 0;
}

bool mprof_hold_read(const struct mprof_thread *t, size_t i,
                     struct mprof_hold *copy) {
  const struct mprof_hold *x = &t->holds->v[i];
  const uintptr_t lock = atomic_load_explicit(&x->lock, memory_order_acquire);
  if (lock == 0)
    return false;
  copy->lock = lock;
  copy->op = x->op;
  copy->kind = x->kind;
  copy->is_needed = x->is_needed;
  copy->since = x->since;
  for (size_t k = 0; k < MPROF_HOLD_FRAMES; k++)
    copy->stack[k] = x->stack[k];
  atomic_thread_fence(memory_order_acquire);
  return atomic_load_explicit(&x->lock, memory_order_relaxed) == lock;
}
