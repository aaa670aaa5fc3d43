// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds potential deadlocks: locks that threads take in different orders
// (option lock_order). Each thread has a list of the locks that it holds. A
// thread that waits for a lock while it holds others adds edges to a graph
// (lock_graph.h): from each lock that it holds to the lock that it takes. A
// cycle of edges is a potential deadlock.
//
// Most threads take the same locks in the same order again and again. So the
// list has a hash of its locks, and each thread has a cache of the hashes of
// the list and of the next lock whose edges are in the graph already.

#ifndef MPROF_RT_LOCK_WAIT_LOCK_ORDER_H
#define MPROF_RT_LOCK_WAIT_LOCK_ORDER_H

#include "lock_wait/hooked.h"
#include "lock_wait/lock_graph.h"
#include "sys/arch.h"
#include "sys/base.h"
#include "sys/tls.h"

// How a function takes a lock.
enum {
  // Another thread may also take the lock in this way meanwhile, because both
  // are readers.
  MPROF_TAKES_SHARED = 1,
  // The function gives up if the lock is not free, at once or after some time.
  // So it cannot be the wait that completes a deadlock.
  MPROF_TAKES_TRY = 2,
  // The memory of the lock does not have the layout of libc's locks.
  MPROF_TAKES_OPAQUE = 4,
  // A reader waits if a writer waits, even if only readers hold the lock.
  MPROF_TAKES_AFTER_WRITERS = 8
};

// Returns how the hooked function number f takes its lock. f is a constant.
static inline unsigned mprof_takes(enum mprof_hooked f) {
  enum {
    // libc++'s shared mutexes let waiting writers go first.
    FAIR = MPROF_TAKES_OPAQUE | MPROF_TAKES_SHARED | MPROF_TAKES_AFTER_WRITERS
  };
  switch (f) {
  case MPROF_HOOKED_pthread_rwlock_rdlock:
    return MPROF_TAKES_SHARED;
  case MPROF_HOOKED_pthread_rwlock_tryrdlock:
  case MPROF_HOOKED_pthread_rwlock_timedrdlock:
  case MPROF_HOOKED_pthread_rwlock_clockrdlock:
    return MPROF_TAKES_SHARED | MPROF_TAKES_TRY;
  case MPROF_HOOKED_pthread_mutex_trylock:
  case MPROF_HOOKED_pthread_mutex_timedlock:
  case MPROF_HOOKED_pthread_mutex_clocklock:
  case MPROF_HOOKED_pthread_rwlock_trywrlock:
  case MPROF_HOOKED_pthread_rwlock_timedwrlock:
  case MPROF_HOOKED_pthread_rwlock_clockwrlock:
  case MPROF_HOOKED_pthread_spin_trylock:
  case MPROF_HOOKED_mtx_trylock:
  case MPROF_HOOKED_mtx_timedlock:
  case MPROF_HOOKED__ZNSt3__15mutex8try_lockEv:
  case MPROF_HOOKED__ZNSt3__115recursive_mutex8try_lockEv:
    return MPROF_TAKES_TRY;
  case MPROF_HOOKED__ZNSt3__111timed_mutex8try_lockEv:
  case MPROF_HOOKED__ZNSt3__121recursive_timed_mutex8try_lockEv:
  case MPROF_HOOKED__ZNSt3__119__shared_mutex_base8try_lockEv:
  case MPROF_HOOKED__ZNSt3__118shared_timed_mutex8try_lockEv:
    return MPROF_TAKES_OPAQUE | MPROF_TAKES_TRY;
  case MPROF_HOOKED__ZNSt3__111timed_mutex4lockEv:
  case MPROF_HOOKED__ZNSt3__121recursive_timed_mutex4lockEv:
  case MPROF_HOOKED__ZNSt3__119__shared_mutex_base4lockEv:
  case MPROF_HOOKED__ZNSt3__118shared_timed_mutex4lockEv:
    return MPROF_TAKES_OPAQUE;
  case MPROF_HOOKED__ZNSt3__119__shared_mutex_base11lock_sharedEv:
  case MPROF_HOOKED__ZNSt3__118shared_timed_mutex11lock_sharedEv:
    return FAIR;
  case MPROF_HOOKED__ZNSt3__119__shared_mutex_base15try_lock_sharedEv:
  case MPROF_HOOKED__ZNSt3__118shared_timed_mutex15try_lock_sharedEv:
    return FAIR | MPROF_TAKES_TRY;
  default:
    return 0;
  }
}

// Whether the runtime looks for locks that are taken in different orders.
// Written once at start, by mprof_holds_init.
extern MPROF_HIDDEN bool mprof_order_on;

// --- the list of a thread ---

enum {
  MPROF_ORDER_HOLDS = 32,  // maximum number of locks in a list
  MPROF_ORDER_KNOWN = 256, // entries of the cache of hashes
  MPROF_ORDER_STACKS = 32, // entries of the cache of stacks
  MPROF_ORDER_CALLERS = 2  // return addresses that an entry of it checks
};

// A stack that the thread has had at this call site and frame address. The
// entry is valid if the return addresses of the next callers are in place, too.
// So the outermost callers may be those of an earlier stack.
struct mprof_known_stack {
  mprof_pc pc;
  uintptr_t frame;
  mprof_pc callers[MPROF_ORDER_CALLERS];
  uint16_t at[MPROF_ORDER_CALLERS]; // distances from `frame`
  uint32_t bucket;                  // handle
};

// A signal handler may interrupt a change of the list, and take and release
// locks itself. It leaves the list as it has found it, except for the fields of
// the element that is being added.
struct mprof_thread_order {
  int tid; // the thread to which the list belongs
  volatile uint32_t len;
  // The sum of mix[] of the first `hashed` locks. It is computed only when the
  // thread takes a second lock.
  uint32_t hashed;
  uint64_t hash;
  struct mprof_order_lock held[MPROF_ORDER_HOLDS];
  uint64_t mix[MPROF_ORDER_HOLDS]; // hash of each lock, its mode, generation
  uint64_t known[MPROF_ORDER_KNOWN];
  struct mprof_known_stack stacks[MPROF_ORDER_STACKS];
};

static inline struct mprof_known_stack *
mprof_order_stack_at(struct mprof_thread_order *o, mprof_pc pc,
                     uintptr_t frame) {
  return &o->stacks[(pc ^ pc >> 5 ^ frame >> 4) % MPROF_ORDER_STACKS];
}

// Returns whether *k is the stack that begins at `frame` with the caller pc.
static inline bool mprof_order_stack_is(const struct mprof_known_stack *k,
                                        mprof_pc pc, uintptr_t frame) {
  if (k->pc != pc || k->frame != frame)
    return false;
  for (size_t i = 0; i < MPROF_ORDER_CALLERS; i++)
    if (!mprof_is_return_address(*(const uintptr_t *)(frame + k->at[i]),
                                 k->callers[i]))
      return false;
  return true;
}

static inline uint64_t mprof_order_mix(uintptr_t lock, unsigned how) {
  const uint64_t generation =
      atomic_load_explicit(mprof_generation_of(lock), memory_order_relaxed);
  const uint64_t x = (lock ^ generation << 48 ^ (how & MPROF_TAKES_SHARED)) *
                     0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

// Returns the sum of the hashes of all locks in the list.
static inline uint64_t mprof_order_hash(struct mprof_thread_order *o) {
  for (; o->hashed < o->len; o->hashed++) {
    const struct mprof_order_lock *h = &o->held[o->hashed];
    o->hash += o->mix[o->hashed] = mprof_order_mix(h->lock, h->how);
  }
  return o->hash;
}

// Returns the hash of a list with the sum `hash` and of a further lock.
static inline uint64_t mprof_order_key(uint64_t hash, uint64_t mix) {
  return (hash ^ (mix << 32 | mix >> 32)) * 0xbf58476d1ce4e5b9u;
}

static inline uint64_t *mprof_order_known(struct mprof_thread_order *o,
                                          uint64_t key) {
  return &o->known[(key >> 32) % MPROF_ORDER_KNOWN];
}

static inline void mprof_order_append(struct mprof_thread_order *o,
                                      const struct mprof_order_lock *l) {
  const uint32_t i = o->len;
  o->held[i].lock = 0; // matches no lock
  o->len = i + 1;
  atomic_signal_fence(memory_order_seq_cst);
  o->held[i].stack = l->stack;
  o->held[i].kind = l->kind;
  o->held[i].how = l->how;
  o->held[i].again = 0;
  atomic_signal_fence(memory_order_seq_cst);
  o->held[i].lock = l->lock;
}

// Adds a lock that the calling thread is about to take, and that is free, to
// its list. Returns false, and adds nothing, if the stack is not known yet, or
// if the list has locks already. pc, frame: the caller of the entry, and the
// frame address of the entry.
__attribute__((always_inline)) static inline bool
mprof_order_push_first(uintptr_t lock, uint8_t kind, unsigned how, mprof_pc pc,
                       uintptr_t frame) {
  struct mprof_thread_order *o = mprof_tls.order;
  if (mprof_unlikely(o == NULL || o->len > 0))
    return false;
  const struct mprof_known_stack *k = mprof_order_stack_at(o, pc, frame);
  if (mprof_unlikely(!mprof_order_stack_is(k, pc, frame)))
    return false;
  mprof_order_append(
      o, &(struct mprof_order_lock){lock, k->bucket, kind, (uint8_t)how, 0});
  return true;
}

// Does the same for a list that may have locks. Returns false if the stack or
// an edge is not known yet.
__attribute__((always_inline)) static inline bool
mprof_order_push(uintptr_t lock, uint8_t kind, unsigned how, mprof_pc pc,
                 uintptr_t frame) {
  struct mprof_thread_order *o = mprof_tls.order;
  if (mprof_unlikely(o == NULL || o->len == MPROF_ORDER_HOLDS))
    return false;
  const struct mprof_known_stack *k = mprof_order_stack_at(o, pc, frame);
  if (mprof_unlikely(!mprof_order_stack_is(k, pc, frame)))
    return false;
  const uint64_t key =
      mprof_order_key(mprof_order_hash(o), mprof_order_mix(lock, how));
  if (mprof_unlikely(*mprof_order_known(o, key) != key))
    return false;
  mprof_order_append(
      o, &(struct mprof_order_lock){lock, k->bucket, kind, (uint8_t)how, 0});
  return true;
}

// Removes a lock from the list if it is the last one. Otherwise returns false.
__attribute__((always_inline)) static inline bool
mprof_order_pop(uintptr_t lock) {
  struct mprof_thread_order *o = mprof_tls.order;
  if (mprof_unlikely(o == NULL))
    return false;
  const uint32_t last = o->len - 1; // UINT32_MAX if there is none
  if (mprof_unlikely(last >= MPROF_ORDER_HOLDS || o->held[last].lock != lock ||
                     o->held[last].again != 0))
    return false;
  if (o->hashed > last) {
    o->hash -= o->mix[last];
    o->hashed = last;
  }
  atomic_signal_fence(memory_order_seq_cst);
  o->len = last;
  return true;
}

// --- events ---

// Call the functions below only if mprof_order_on is set, and while the
// thread's guard is not set. op: address of the hooked function. frame: frame
// address of the entry.

// Reports that the calling thread is about to wait for a lock. Adds the edges
// before the wait, because the thread may never return from it.
void mprof_order_awaited(uintptr_t lock, uint8_t kind, unsigned how,
                         uintptr_t op, uintptr_t frame);
// Reports that the calling thread has taken a lock.
void mprof_order_taken(uintptr_t lock, uint8_t kind, unsigned how, uintptr_t op,
                       uintptr_t frame);
// Reports that the calling thread has released a mutex and taken it again, in a
// wait for a condition.
void mprof_order_retaken(uintptr_t lock, uintptr_t op, uintptr_t frame);
// Reports that the calling thread is about to release a lock. The guard may be
// set.
void mprof_order_dropped(uintptr_t lock);
// Reports that a lock was destroyed, or is about to be initialized. The next
// lock at the same address is another lock.
void mprof_order_ended(uintptr_t lock);

#endif // MPROF_RT_LOCK_WAIT_LOCK_ORDER_H
