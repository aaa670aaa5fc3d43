// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's own locks. They are futexes, since the runtime hooks
// pthread_mutex. Each lock has a rank, and threads take locks in the order of
// their ranks, so no deadlock can occur. In builds without NDEBUG, a thread
// that takes a lock out of order ends the process.

#ifndef MPROF_RT_SYS_LOCK_H
#define MPROF_RT_SYS_LOCK_H

#include "sys/base.h"

// Ranks of the locks. A thread may take a lock only if its rank is higher than
// the ranks of all locks that the thread holds. A thread sets its recursion
// guard (tls.h) before it takes a lock. While the guard is set, a signal
// handler drops its events. So a handler that has interrupted the holder of a
// lock never waits for that lock.
enum mprof_rank {
  MPROF_RANK_WRITE = 1, // writer_lock: one profile is written at a time
  MPROF_RANK_TRACE,     // trace_lock: trace sessions and their thread rows
  MPROF_RANK_STACKS,    // stacks_lock: collecting the stacks of all threads
  MPROF_RANK_UNLOADS,   // modules_lock: the history of modules
  MPROF_RANK_REGISTRY,  // registry_lock: threads, wrappers, heap rate, masks
  MPROF_RANK_ACTIVE,    // active_lock: active counts of all MEM buckets
  MPROF_RANK_INSERT,    // insert_lock: bucket table and list heads
  MPROF_RANK_PROFILES,  // profiles_lock, and each custom profile's lock
  MPROF_RANK_CUSTOM,    // one slot of the table of custom allocators' arenas
  MPROF_RANK_ODD,       // odd_lock: live blocks not aligned to 16 bytes
  MPROF_RANK_GC,        // gc_lock: counted objects of a garbage collector
  MPROF_RANK_STARTS,    // starts_lock: start records of new threads
  MPROF_RANK_WAITERS,   // one slot of the table of waiters
  MPROF_RANK_NAMES,     // names_lock: names of locks
  MPROF_RANK_LABELS,    // labels_lock: sets of labels
  MPROF_RANK_ENDED,     // list of ended threads in the trace
  MPROF_RANK_LOG,       // log_lock: the allocation log
  MPROF_RANK_TRACE_BUF, // free buffers of the trace
  MPROF_RANK_MEMORY,    // persistent_lock: commit of persistent memory
};

struct mprof_lock {
  atomic_uint word; // 0: free, 1: held, 2: held with a waiter
  unsigned char rank;
  // Number and start times of this lock's waiters, for the mutex profile; see
  // lock.c.
  _Atomic uint64_t waiting;
  uint64_t charged; // time of the last charge, in ticks; guarded by the lock
};
#define MPROF_LOCK_INIT(r) {.word = 0, .rank = (r)}

void mprof_lock_acquire(struct mprof_lock *l);
// Tries to take the lock once a millisecond. Returns false if the lock was not
// free within ms milliseconds.
bool mprof_lock_acquire_within(struct mprof_lock *l, unsigned ms);
void mprof_lock_release(struct mprof_lock *l);
// Returns whether the calling thread holds a lock of this rank. The function is
// for assertions and exists only in builds without NDEBUG.
bool mprof_lock_is_held(enum mprof_rank rank);
// Makes the lock free in a forked child, because the thread that held it in the
// parent does not exist in the child.
void mprof_lock_reset(struct mprof_lock *l);
// The longest time that a thread sleeps for a lock before it checks the lock
// word again. If another thread is in a futex call with this address as its
// timeout, that thread waits for a lock of the runtime. A signal may then
// interrupt it, because the call is repeated.
extern const struct timespec mprof_lock_patience;
// Function that is called after a release of a lock if other threads have
// waited for the lock, or if the thread has ticks that are not yet in the mutex
// profile. cycles: ticks that other threads have waited. frame: frame address
// of the release. lock_profile.c sets the pointer once at start; it is NULL
// before. It is a pointer because this file must not depend on the mutex
// profile.
extern void (*mprof_lock_observer)(uint64_t cycles, uintptr_t frame);
// Returns the total time that threads have waited for these locks, in ticks.
uint64_t mprof_lock_wait_ticks(void);

#endif // MPROF_RT_SYS_LOCK_H
