// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The locks that each thread holds, for the option lock_order; see
// lock_order.h.

#include "lock_wait/lock_order.h"

#include "bucket/bucket.h"
#include "lock_wait/holds.h"
#include "lock_wait/lock_graph.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/arch.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

#include <pthread.h>
#include <string.h>

enum { REACH = 1024 }; // bytes of the stack in which callers are searched

bool mprof_order_on;

// --- stacks ---

// Stores the stack b in *k, and where the return addresses of the next callers
// are. Leaves the entry unused if it does not find them.
static void remember(struct mprof_known_stack *k, uintptr_t frame,
                     const struct mprof_bucket *b) {
  const mprof_pc *stack = b->stack + 2; // without the function and its caller
  const size_t n = b->stack_len > 2 ? b->stack_len - 2u : 0;
  const size_t wanted = n < MPROF_ORDER_CALLERS ? n : MPROF_ORDER_CALLERS;
  size_t found = 0;
  k->pc = 0;
  for (size_t i = 0; i < MPROF_ORDER_CALLERS; i++) {
    k->at[i] = 8; // the return address of the entry, in place of a caller
    k->callers[i] = mprof_stack_return(frame + 8);
  }
  for (size_t at = 16; at < REACH && found < wanted; at += 8)
    if (mprof_is_return_address(*(const uintptr_t *)(frame + at),
                                stack[found])) {
      k->callers[found] = stack[found];
      k->at[found++] = (uint16_t)at;
    }
  if (found < wanted)
    return;
  k->frame = frame;
  k->bucket = mprof_persistent_handle(b);
  k->pc = mprof_stack_return(frame + 8);
}

// Unwinds the stack. Returns the handle of its bucket, or 0.
static MPROF_NOINLINE uint32_t unwind(struct mprof_known_stack *k, uintptr_t op,
                                      uintptr_t frame) {
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_TRACE};
  if (mprof_flags.stack_depth == 0 || !t)
    return 0;
  const struct mprof_bucket *b =
      mprof_bucket_at(t, &key, mprof_op_pc(op), frame);
  if (b == NULL)
    return 0;
  if (mprof_stack_holds(&t->range, frame) && frame < t->range.hi - 16 - REACH)
    remember(k, frame, b);
  return mprof_persistent_handle(b);
}

// Returns the handle of the bucket with the stack that begins at `frame`.
static inline uint32_t stack_at(struct mprof_thread_order *o, uintptr_t op,
                                uintptr_t frame) {
  const mprof_pc pc = mprof_stack_return(frame + 8);
  struct mprof_known_stack *k = mprof_order_stack_at(o, pc, frame);
  return mprof_likely(mprof_order_stack_is(k, pc, frame))
             ? k->bucket
             : unwind(k, op, frame);
}

// --- the list ---

// Returns the thread's list, or NULL. The list of an ended thread may be used
// again, and is then emptied.
static struct mprof_thread_order *list_of(struct mprof_thread *t) {
  if (t->order == NULL)
    t->order = mprof_persistent_alloc(sizeof(*t->order));
  struct mprof_thread_order *o = t->order;
  if (o != NULL && o->tid != t->tid) {
    o->len = o->hashed = 0;
    o->hash = 0;
    o->tid = t->tid;
  }
  // The quick entries do not record where a lock was taken for stuck.
  mprof_tls.order = mprof_holds_on ? NULL : o;
  return o;
}

// Returns the index of the lock in the list, or o->len.
static size_t find(const struct mprof_thread_order *o, uintptr_t lock) {
  for (size_t i = o->len; i-- > 0;)
    if (o->held[i].lock == lock)
      return i;
  return o->len;
}

static void drop(struct mprof_thread_order *o, size_t i) {
  if (o->hashed > i) { // the hash is computed anew
    o->hash = 0;
    o->hashed = 0;
  }
  for (; i + 1 < o->len; i++)
    o->held[i] = o->held[i + 1];
  atomic_signal_fence(memory_order_seq_cst);
  o->len--;
}

// Returns whether the memory of a lock shows that the thread no longer holds
// it, because code without MProf has released it. The program may have freed
// the memory, so this function reads a copy.
static bool was_released(const struct mprof_order_lock *h, int tid) {
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

// Adds the edges to the graph, after a look at the memory of the locks.
static MPROF_NOINLINE void add_edges(struct mprof_thread_order *o,
                                     const struct mprof_order_lock *taken) {
  struct mprof_order_lock held[MPROF_ORDER_HOLDS];
  size_t n = 0;
  for (size_t i = o->len; i-- > 0;)
    if (o->held[i].lock != taken->lock && was_released(&o->held[i], o->tid))
      drop(o, i);
  for (size_t i = 0; i < o->len; i++)
    if (o->held[i].lock != taken->lock)
      held[n++] = o->held[i];
  if (n > 0)
    mprof_graph_add(held, n, taken, o->tid);
}

// Adds the edges from the locks with the sum `hash` to a lock, unless they are
// in the graph already.
static inline void add_if_new(struct mprof_thread_order *o, uint64_t hash,
                              uint64_t mix,
                              const struct mprof_order_lock *taken) {
  const uint64_t key = mprof_order_key(hash, mix);
  uint64_t *known = mprof_order_known(o, key);
  if (mprof_likely(*known == key))
    return;
  add_edges(o, taken);
  *known = key;
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
  struct mprof_thread_order *o = list_of(t);
  if (o == NULL)
    return;
  const size_t i = find(o, lock);
  if (mprof_unlikely(i < o->len)) {
    o->held[i].again += is_taken;
    return;
  }
  const struct mprof_order_lock taken = {
      .lock = lock,
      .stack = stack_at(o, op, frame),
      .kind = kind,
      .how = (uint8_t)with_priority(lock, kind, how)};
  if (o->len > 0 && !(how & MPROF_TAKES_TRY))
    add_if_new(o, mprof_order_hash(o), mprof_order_mix(lock, how), &taken);
  if (!is_taken)
    return;
  if (o->len == MPROF_ORDER_HOLDS)
    mprof_stat_add(MPROF_STAT_order_lost, 1);
  else
    mprof_order_append(o, &taken);
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
  struct mprof_thread *t = mprof_tls.self;
  if (!t || !t->order || !mprof_guard_enter())
    return;
  struct mprof_thread_order *o = list_of(t);
  const size_t i = find(o, lock);
  if (i < o->len && o->len > 1) {
    struct mprof_order_lock taken = o->held[i];
    taken.stack = stack_at(o, op, frame);
    const uint64_t hash = mprof_order_hash(o);
    add_if_new(o, hash - o->mix[i], o->mix[i], &taken);
  }
  mprof_guard_leave();
}

void mprof_order_dropped(uintptr_t lock) {
  const struct mprof_thread *t = mprof_tls.self;
  struct mprof_thread_order *o = t ? t->order : NULL;
  if (!o || o->tid != t->tid)
    return;
  const size_t i = find(o, lock);
  if (i == o->len)
    return;
  if (o->held[i].again > 0)
    o->held[i].again--;
  else
    drop(o, i);
}

void mprof_order_ended(uintptr_t lock) {
  if (!mprof_process_ready() || !mprof_guard_enter())
    return;
  mprof_graph_remove(lock);
  mprof_guard_leave();
}
