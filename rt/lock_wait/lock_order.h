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
#include "sys/base.h"

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
