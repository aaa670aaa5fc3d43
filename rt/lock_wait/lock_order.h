// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread's list of the locks that it holds. It serves two purposes.
//
// 1. Potential deadlocks: locks that threads take in different orders (option
// lock_order). A thread that waits for a lock while it holds others adds edges
// to a graph (lock_graph.h): from each lock that it holds to the lock that it
// takes. A cycle of edges is a potential deadlock.
//
// Most threads take the same locks in the same order again and again. So the
// list has a hash of its locks, and each thread has a cache of the hashes of
// the list and of the next lock whose edges are in the graph already.
//
// 2. The profile `locks` (contention.h): an element may have a note of where
// and when the thread took the lock. Without lock_order, the list has only the
// locks with notes.

#ifndef MPROF_RT_LOCK_WAIT_LOCK_ORDER_H
#define MPROF_RT_LOCK_WAIT_LOCK_ORDER_H

#include "lock_wait/hooked.h"
#include "lock_wait/lock_graph.h"
#include "sys/abi_words.h"
#include "sys/arch.h"
#include "sys/base.h"
#include "sys/tls.h"
#include "thread/threads.h"

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
  MPROF_TAKES_AFTER_WRITERS = 8,
  // Only in the list: the element has a note. Not a way to take a lock.
  MPROF_TAKES_NOTED = 16
};

// Returns how the hooked function number f takes its lock. In entries,
// f is a constant.
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

// Returns whether the hooked function at address op is a reader's.
bool mprof_op_reads(uintptr_t op);

// Whether the runtime looks for locks that are taken in different orders.
// Written once at start, by mprof_holds_init.
extern MPROF_HIDDEN bool mprof_order_on;
// The word in __mprof_waiters of a lock for which nobody waits, if only the
// order of locks is recorded and not where they were taken. Otherwise 0.
extern MPROF_HIDDEN uint32_t mprof_order_word;

// --- the list of a thread ---

enum {
  MPROF_ORDER_HOLDS = 32,  // maximum number of locks in a list
  MPROF_ORDER_KNOWN = 512, // entries of the cache of hashes
  MPROF_ORDER_SITES = 256  // entries of the table of call sites
};

// A lock that the thread holds.
struct mprof_order_held {
  uintptr_t lock; // 0: none
  mprof_pc pc;    // the call site that took it
  uint32_t stack; // as in struct mprof_order_lock
  uint8_t kind, how;
  uint8_t again;     // how often the thread has taken it once more, up to 255
  uint8_t is_hashed; // the hash of the list includes it
  // The note, if `how` has MPROF_TAKES_NOTED: the bucket of the block profile
  // with the stack, mprof_waiters_epoch and the time in ticks when the thread
  // took the lock.
  uint32_t taken, epoch;
  uint64_t since;
};

// A call site of lock functions. Its next `captures` stacks are recorded. Then
// no more are, until a lock that it has taken gets a new edge. So a site that
// takes the same locks in the same order again and again costs no unwinding.
struct mprof_order_site {
  mprof_pc pc;
  uint32_t captures;
};

// A signal handler may interrupt a change of the list, and take and release
// locks itself. It leaves the list as it has found it.
struct mprof_thread_order {
  int tid;         // the thread to which the list belongs
  uint32_t starts; // mprof_order_started_again calls before its first lock
  struct mprof_order_held held[MPROF_ORDER_HOLDS + 1]; // held[0] has no lock
  // Without lock_order, the struct ends here.
  uint64_t hash; // sum of mix[] of the locks with is_hashed
  uint64_t mix[MPROF_ORDER_HOLDS + 1];
  uint64_t known[MPROF_ORDER_KNOWN];
  struct mprof_order_site sites[MPROF_ORDER_SITES];
  // The call sites of sites[] whose stacks are not recorded; otherwise 0.
  mprof_pc quiet[MPROF_ORDER_SITES];
};

// Returns the index in sites[] and quiet[].
static inline size_t mprof_order_site_of(mprof_pc pc) {
  return (pc ^ pc >> 8) % MPROF_ORDER_SITES;
}

// Returns a hash of a lock, its generation and how the thread takes it.
static inline uint64_t mprof_order_mix(uintptr_t lock, unsigned how) {
  const uint64_t generation =
      atomic_load_explicit(mprof_generation_of(lock), memory_order_relaxed);
  const uint64_t x = (lock ^ generation << 48 ^ (how & MPROF_TAKES_SHARED)) *
                     0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

// Returns the sum of the hashes of all locks in the list, whose last element is
// at `top`.
static inline uint64_t mprof_order_hash(struct mprof_thread_order *o,
                                        struct mprof_order_held *top) {
  for (; top != o->held && !top->is_hashed; top--) {
    o->hash += o->mix[top - o->held] = mprof_order_mix(top->lock, top->how);
    top->is_hashed = 1;
  }
  return o->hash;
}

// Returns the hash of a list with the sum `hash` and of a further lock.
static inline uint64_t mprof_order_key(uint64_t hash, uint64_t mix) {
  return (hash ^ (mix << 32 | mix >> 32)) * 0xbf58476d1ce4e5b9u;
}

// Returns whether the edges with this key are in the graph.
static inline bool mprof_order_knows(struct mprof_thread_order *o,
                                     uint64_t key) {
  uint64_t *known = &o->known[(key >> 32) % MPROF_ORDER_KNOWN];
  if (mprof_likely(*known == key))
    return true;
  if (!mprof_graph_knows(key))
    return false;
  *known = key;
  return true;
}

// Appends a lock to the list.
static inline void mprof_order_append(struct mprof_order_held *top,
                                      uintptr_t lock, mprof_pc pc,
                                      uint32_t stack, uint8_t kind,
                                      uint8_t how) {
  top[1].lock = 0; // until the element is complete
  atomic_signal_fence(memory_order_seq_cst);
  mprof_tls.order_top = top + 1;
  atomic_signal_fence(memory_order_seq_cst);
  top[1].pc = pc;
  top[1].stack = stack;
  top[1].kind = kind;
  top[1].how = how;
  top[1].again = top[1].is_hashed = 0;
  atomic_signal_fence(memory_order_seq_cst);
  top[1].lock = lock;
}

// Adds a lock that the calling thread is about to take, and that is free, to
// its list. Returns false, and adds nothing, if the list has locks already, or
// if a stack has to be recorded. pc: the caller of the entry.
__attribute__((always_inline)) static inline bool
mprof_order_push_first(uintptr_t lock, uint8_t kind, unsigned how,
                       mprof_pc pc) {
  struct mprof_thread_order *o = mprof_tls.order;
  struct mprof_order_held *top = mprof_tls.order_top;
  // False if o and top are NULL.
  const bool is_empty =
      (uintptr_t)top ==
      (uintptr_t)o + offsetof(struct mprof_thread_order, held);
  if (mprof_unlikely(!is_empty || o->quiet[mprof_order_site_of(pc)] != pc))
    return false;
  mprof_order_append(top, lock, pc, 0, kind, (uint8_t)how);
  return true;
}

// Does the same for a list that may have locks. Returns false if a stack has to
// be recorded, or if an edge is not known yet.
__attribute__((always_inline)) static inline bool
mprof_order_push(uintptr_t lock, uint8_t kind, unsigned how, mprof_pc pc) {
  struct mprof_thread_order *o = mprof_tls.order;
  struct mprof_order_held *top = mprof_tls.order_top;
  if (mprof_unlikely(o == NULL || o->quiet[mprof_order_site_of(pc)] != pc ||
                     top == o->held + MPROF_ORDER_HOLDS))
    return false;
  if (top != o->held &&
      !mprof_order_knows(o, mprof_order_key(mprof_order_hash(o, top),
                                            mprof_order_mix(lock, how))))
    return false;
  mprof_order_append(top, lock, pc, 0, kind, (uint8_t)how);
  return true;
}

// Removes a lock from the list if it is the last one and was taken once, and
// its hash is not known. Otherwise returns false.
__attribute__((always_inline)) static inline bool
mprof_order_pop(uintptr_t lock) {
  struct mprof_order_held *top = mprof_tls.order_top;
  if (mprof_unlikely(top == NULL || top->lock != lock ||
                     (top->again | top->is_hashed) != 0))
    return false;
  mprof_tls.order_top = top - 1;
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
// Reports that a block of memory is about to be freed, with the locks in it.
// The guard may be set.
void mprof_order_freed(uintptr_t begin, size_t size);
// Reports that profiling begins again after it was stopped. Meanwhile locks
// were released and have ended unseen, and others may be at their addresses.
void mprof_order_started_again(void);

// --- notes of acquisitions ---

// Adds a note, or counts one more acquisition if the thread already holds the
// lock. Call after mprof_order_taken. taken: handle of the bucket with the
// stack. may_repeat: whether a thread can take a lock of this kind again before
// it releases it. Call with the guard set.
void mprof_note_taken(uintptr_t lock, uint32_t taken, bool may_repeat);
// Returns the bucket and the time of the acquisition of a lock that the thread
// releases, and removes the note. Returns 0 if there is none. Call with the
// guard set.
uint32_t mprof_note_take(uintptr_t lock, uint64_t *since);

// Returns whether acquisitions of the lock are noted.
static inline bool mprof_notes_wanted(uintptr_t lock) {
  return __atomic_load_n(&__mprof_waiters[mprof_waiter_slot(lock)],
                         __ATOMIC_RELAXED) &
         MPROF_WAITER_NOTES;
}
// Counts a release of the lock that is not charged, if acquisitions are noted.
// Call before mprof_order_dropped.
void mprof_note_released(uintptr_t lock);
static inline void mprof_note_dropped(uintptr_t lock) {
  if (mprof_unlikely(mprof_notes_wanted(lock)))
    mprof_note_released(lock);
}

#endif // MPROF_RT_LOCK_WAIT_LOCK_ORDER_H
