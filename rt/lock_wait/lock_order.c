// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of the locks that each thread holds; see lock_order.h.

#include "lock_wait/lock_order.h"

#include "bucket/bucket.h"
#include "lock_wait/lock_graph.h"
#include "lock_wait/waiters.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/arch.h"
#include "sys/clock.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

#include <pthread.h>

bool mprof_order_on;
uint32_t mprof_order_word;

enum {
  CAPTURES_FIRST = 16, // stacks of a call site that are recorded at first
  CAPTURES_MORE = 64,  // and after a new edge
  // The part of a thread's stack, below and above the frame of its first lock,
  // in which an ended thread may have had locks.
  STACK_BELOW = 64 << 10,
  STACK_ABOVE = 16 << 10
};

bool mprof_op_reads(uintptr_t op) {
  for (int f = 0; f < MPROF_HOOKED_COUNT; f++)
    if ((uintptr_t)mprof_hooked_functions[f] == op &&
        mprof_takes((enum mprof_hooked)f) & MPROF_TAKES_SHARED)
      return true;
  return false;
}

// --- stacks ---

// Returns the handle of the bucket with the stack that begins at `frame`, or 0.
static uint32_t stack_at(uintptr_t op, uintptr_t frame) {
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_TRACE};
  if (mprof_flags.stack_depth == 0 || !t)
    return 0;
  return mprof_persistent_handle(
      mprof_bucket_at(t, &key, mprof_op_pc(op), frame));
}

// Returns the handle of the bucket with a stack of one address, or 0.
static uint32_t stack_of(mprof_pc pc) {
  const struct mprof_bucket_key key = {
      .type = MPROF_BUCKET_TRACE, .stack = &pc, .stack_len = 1};
  return mprof_persistent_handle(mprof_bucket_get(&key, true));
}

// Returns whether a stack of the call site has to be recorded.
static bool wants_stack(struct mprof_thread_order *o, mprof_pc pc) {
  const size_t i = mprof_order_site_of(pc);
  struct mprof_order_site *site = &o->sites[i];
  if (site->pc != pc)
    *site = (struct mprof_order_site){pc, CAPTURES_FIRST};
  const bool wants = site->captures > 0;
  site->captures -= wants;
  o->quiet[i] = site->captures == 0 ? pc : 0;
  return wants;
}

static void want_more_stacks(struct mprof_thread_order *o, mprof_pc pc) {
  const size_t i = mprof_order_site_of(pc);
  o->sites[i] = (struct mprof_order_site){pc, CAPTURES_MORE};
  o->quiet[i] = 0;
}

// --- the list ---

// How often profiling was started again.
static atomic_uint starts;

static void clear(struct mprof_thread_order *o) {
  mprof_tls.order_top = o->held;
  o->starts = atomic_load_explicit(&starts, memory_order_relaxed);
  if (mprof_order_on)
    o->hash = 0;
}

// Empties a list from before the last start. The inline functions have added
// no lock to it since, because they know no edge of its locks.
static inline void forget_old(struct mprof_thread_order *o) {
  if (o->starts != atomic_load_explicit(&starts, memory_order_relaxed))
    clear(o);
}

// Returns the thread's list, or NULL. The list of an ended thread may be used
// again, and is then emptied. Its stack may also be used again, and then the
// locks there are others.
static struct mprof_thread_order *list_of(struct mprof_thread *t,
                                          uintptr_t frame) {
  if (mprof_likely(mprof_tls.order != NULL))
    return mprof_tls.order;
  if (t->order == NULL)
    t->order = mprof_persistent_alloc(
        mprof_order_on ? sizeof(*t->order)
                       : offsetof(struct mprof_thread_order, hash));
  if (t->order == NULL)
    return NULL;
  if (mprof_order_on)
    mprof_graph_remove_range(frame - STACK_BELOW, STACK_BELOW + STACK_ABOVE);
  t->order->tid = t->tid;
  clear(t->order);
  return mprof_tls.order = t->order;
}

// Returns the element of the list for the lock, or NULL.
static struct mprof_order_held *find(struct mprof_thread_order *o,
                                     uintptr_t lock) {
  for (struct mprof_order_held *h = mprof_tls.order_top; h != o->held; h--)
    if (h->lock == lock)
      return h;
  return NULL;
}

static void drop(struct mprof_thread_order *o, struct mprof_order_held *h) {
  struct mprof_order_held *top = mprof_tls.order_top;
  if (h->is_hashed) { // compute the hash anew when it is needed
    o->hash = 0;
    for (struct mprof_order_held *k = o->held + 1; k <= top; k++)
      k->is_hashed = 0;
  }
  for (; h != top; h++)
    *h = h[1];
  atomic_signal_fence(memory_order_seq_cst);
  mprof_tls.order_top = top - 1;
}

// Returns whether the memory of a lock shows that the thread no longer holds
// it, because code without MProf has released it. The program may have freed
// the memory, so this function reads a copy.
static bool was_released(const struct mprof_order_held *h, int tid) {
#ifdef __GLIBC__
  union {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
  } copy;
  if (h->how & MPROF_TAKES_OPAQUE)
    return false;
  if (h->kind == MPROF_KIND_mutex)
    return !mprof_os_copy(&copy, h->lock, sizeof(copy.mutex)) ||
           copy.mutex.__data.__owner != tid;
  if (h->kind != MPROF_KIND_rwlock)
    return false;
  if (!mprof_os_copy(&copy, h->lock, sizeof(copy.rwlock)))
    return true;
  return h->how & MPROF_TAKES_SHARED ? copy.rwlock.__data.__readers >> 3 == 0
                                     : copy.rwlock.__data.__cur_writer != tid;
#else
  (void)h;
  (void)tid;
  return false;
#endif
}

// --- edges ---

// Adds edges from the locks in the list to a lock, unless they are in the graph
// already. First looks at the memory of the locks. hash: the sum of the hashes
// of the locks, mix: the hash of the taken lock.
static MPROF_NOINLINE void add_edges(struct mprof_thread_order *o,
                                     uint64_t hash, uint64_t mix,
                                     struct mprof_order_lock taken,
                                     uintptr_t op, uintptr_t frame) {
  const uint64_t key = mprof_order_key(hash, mix);
  struct mprof_order_lock held[MPROF_ORDER_HOLDS];
  size_t n = 0;
  bool is_final = true;
  if (mprof_order_knows(o, key))
    return;
  for (struct mprof_order_held *h = mprof_tls.order_top; h != o->held; h--)
    if (h->lock != taken.lock && was_released(h, o->tid))
      drop(o, h);
  for (struct mprof_order_held *h = mprof_tls.order_top; h != o->held; h--) {
    if (h->lock == taken.lock)
      continue;
    const bool is_partial = h->stack == 0;
    want_more_stacks(o, h->pc);
    is_final &= !is_partial;
    held[n++] = (struct mprof_order_lock){
        h->lock, is_partial ? stack_of(h->pc) : h->stack, h->kind, h->how,
        is_partial};
  }
  if (taken.stack == 0)
    taken.stack = stack_at(op, frame);
  if (n > 0)
    mprof_graph_add(held, n, &taken, o->tid, is_final ? key : 0);
}

static unsigned with_priority(uintptr_t lock, uint8_t kind, unsigned how) {
#ifdef __GLIBC__
  if (kind == MPROF_KIND_rwlock && !(how & MPROF_TAKES_OPAQUE) &&
      ((const pthread_rwlock_t *)lock)->__data.__flags ==
          PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
    return how | MPROF_TAKES_AFTER_WRITERS;
#else
  (void)lock;
  (void)kind;
#endif
  return how;
}

// Adds the edges to a lock that the thread waits for or has taken. If
// `is_taken` is set, adds the lock to the list.
static void note(struct mprof_thread *t, uintptr_t lock, uint8_t kind,
                 unsigned how, uintptr_t op, uintptr_t frame, bool is_taken) {
  struct mprof_thread_order *o = list_of(t, frame);
  if (o == NULL)
    return;
  forget_old(o);
  struct mprof_order_held *h = find(o, lock);
  if (mprof_unlikely(h != NULL)) {
    h->again += is_taken && h->again < UINT8_MAX;
    return;
  }
  const mprof_pc pc = mprof_stack_return(frame + 8);
  const struct mprof_order_lock taken = {
      .lock = lock,
      .stack = wants_stack(o, pc) ? stack_at(op, frame) : 0,
      .kind = kind,
      .how = (uint8_t)with_priority(lock, kind, how)};
  if (mprof_tls.order_top != o->held && !(how & MPROF_TAKES_TRY))
    add_edges(o, mprof_order_hash(o, mprof_tls.order_top),
              mprof_order_mix(lock, how), taken, op, frame);
  if (!is_taken)
    return;
  if (mprof_tls.order_top == o->held + MPROF_ORDER_HOLDS)
    mprof_stat_add(MPROF_STAT_order_lost, 1);
  else
    mprof_order_append(mprof_tls.order_top, lock, pc, taken.stack, kind,
                       taken.how);
}

// Sets the guard and calls note.
static inline void enter(uintptr_t lock, uint8_t kind, unsigned how,
                         uintptr_t op, uintptr_t frame, bool is_taken) {
  if (!mprof_process_ready())
    return;
  if (!mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return;
  }
  struct mprof_thread *t = mprof_thread_self(false);
  if (t)
    note(t, lock, kind, how, op, frame, is_taken);
  mprof_guard_leave();
}

void mprof_order_taken(uintptr_t lock, uint8_t kind, unsigned how, uintptr_t op,
                       uintptr_t frame) {
  enter(lock, kind, how, op, frame, true);
}

void mprof_order_awaited(uintptr_t lock, uint8_t kind, unsigned how,
                         uintptr_t op, uintptr_t frame) {
  enter(lock, kind, how, op, frame, false);
}

void mprof_order_retaken(uintptr_t lock, uintptr_t op, uintptr_t frame) {
  struct mprof_thread_order *o = mprof_tls.order;
  if (o == NULL || !mprof_guard_enter())
    return;
  forget_old(o);
  struct mprof_order_held *h = find(o, lock);
  if (h != NULL && mprof_tls.order_top != o->held + 1) {
    const uint64_t hash = mprof_order_hash(o, mprof_tls.order_top);
    const uint64_t mix = o->mix[h - o->held];
    const struct mprof_order_lock taken = {
        .lock = lock, .kind = h->kind, .how = h->how};
    add_edges(o, hash - mix, mix, taken, op, frame);
  }
  mprof_guard_leave();
}

void mprof_order_dropped(uintptr_t lock) {
  struct mprof_thread_order *o = mprof_tls.order;
  struct mprof_order_held *h = o != NULL ? find(o, lock) : NULL;
  if (h == NULL)
    return;
  if (h->again > 0) {
    h->again--;
  } else if (h == mprof_tls.order_top && h->is_hashed) {
    o->hash -= o->mix[h - o->held];
    mprof_tls.order_top = h - 1;
  } else {
    drop(o, h);
  }
}

void mprof_order_ended(uintptr_t lock) {
  if (!mprof_process_ready() || !mprof_guard_enter())
    return;
  mprof_graph_remove(lock);
  mprof_guard_leave();
}

void mprof_order_freed(uintptr_t begin, size_t size) {
  if (mprof_likely(!mprof_graph_may_have(begin, size)) || !mprof_guard_enter())
    return;
  mprof_graph_remove_range(begin, size);
  mprof_guard_leave();
}

void mprof_order_started_again(void) {
  if (!mprof_order_on)
    return;
  atomic_fetch_add(&starts, 1);
  mprof_order_freed(0, SIZE_MAX);
}

// --- notes ---

static bool has_note(const struct mprof_order_held *h) {
  return h->how & MPROF_TAKES_NOTED && h->epoch == mprof_waiters_epoch(h->lock);
}

// Returns the element of the calling thread's list that has a valid note of the
// lock, or NULL.
static struct mprof_order_held *note_of(uintptr_t lock) {
  struct mprof_thread_order *o = mprof_tls.order;
  struct mprof_order_held *h = o != NULL ? find(o, lock) : NULL;
  return h != NULL && has_note(h) ? h : NULL;
}

// Removes a note, and the element if only the note needs it.
static void forget(struct mprof_order_held *h) {
  h->how &= (uint8_t)~MPROF_TAKES_NOTED;
  if (!mprof_order_on)
    drop(mprof_tls.order, h);
}

void mprof_note_taken(uintptr_t lock, uint32_t taken, bool may_repeat) {
  struct mprof_thread *t = mprof_thread_self(false);
  struct mprof_thread_order *o =
      t ? list_of(t, (uintptr_t)__builtin_frame_address(0)) : NULL;
  struct mprof_order_held *h = o != NULL ? find(o, lock) : NULL;
  if (h != NULL && may_repeat && has_note(h)) {
    h->again += !mprof_order_on && h->again < UINT8_MAX;
    return;
  }
  if (o != NULL && !mprof_order_on) {
    if (h == NULL && mprof_tls.order_top == o->held + MPROF_ORDER_HOLDS)
      h = o->held + 1; // the oldest
    if (h != NULL)
      drop(o, h);
    mprof_order_append(mprof_tls.order_top, lock, 0, 0, 0, 0);
    h = mprof_tls.order_top;
  }
  if (h != NULL) {
    h->how |= MPROF_TAKES_NOTED;
    h->taken = taken;
    h->epoch = mprof_waiters_epoch(lock);
    h->since = mprof_clock_now();
  }
  // Also without room for the note, so that notes are not wanted for ever.
  mprof_waiters_noted(lock);
}

uint32_t mprof_note_take(uintptr_t lock, uint64_t *since) {
  struct mprof_order_held *h = note_of(lock);
  if (h == NULL)
    return 0;
  const uint32_t taken = h->taken;
  *since = h->since;
  forget(h);
  return taken;
}

void mprof_note_released(uintptr_t lock) {
  if (!mprof_guard_enter())
    return;
  struct mprof_order_held *h = note_of(lock);
  if (h != NULL && h->again == 0)
    forget(h);
  else if (h != NULL && !mprof_order_on)
    h->again--;
  mprof_guard_leave();
}
