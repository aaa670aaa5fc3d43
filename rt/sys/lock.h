// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's own locks. They are futexes, since pthread_mutex is hooked.
// Ranks exclude deadlocks: without NDEBUG, taking a lock out of order ends the
// process.

#ifndef MPROF_RT_SYS_LOCK_H
#define MPROF_RT_SYS_LOCK_H

#include "sys/base.h"

// Ranks. A thread may only take a lock of a higher rank than all locks that it
// holds. All locks are taken with the thread's guard set (tls.h). So a signal
// handler that interrupts a holder drops its event, and does not wait for its
// own thread.
enum mprof_rank {
  MPROF_RANK_WRITE = 1, // writer_lock: one profile is written at a time
  MPROF_RANK_TRACE,     // trace_lock: sessions, and which thread has which row
  MPROF_RANK_STACKS,    // stacks_lock: collecting the stacks of all threads
  MPROF_RANK_UNLOADS,   // modules_lock: the history of modules
  MPROF_RANK_REGISTRY,  // registry_lock: threads, wrappers, rate, masks
  MPROF_RANK_ACTIVE,    // active_lock: active counts of all MEM buckets
  MPROF_RANK_INSERT,    // insert_lock: bucket table and list heads
  MPROF_RANK_PROFILES,  // profiles_lock, and each custom profile's lock
  MPROF_RANK_CUSTOM,    // a slot of the table of arenas
  MPROF_RANK_ODD,       // odd_lock: live blocks off 16-byte boundaries
  MPROF_RANK_GC,        // gc_lock: counted objects of a collector
  MPROF_RANK_STARTS,    // starts_lock: start records of new threads
  MPROF_RANK_WAITERS,   // a slot of the table of waiters
  MPROF_RANK_NAMES,     // names_lock: names of locks
  MPROF_RANK_LABELS,    // labels_lock: sets of labels
  MPROF_RANK_ENDED,     // list of ended threads in the trace
  MPROF_RANK_LOG,       // log_lock: the allocation log
  MPROF_RANK_TRACE_BUF, // free buffers of the trace
  MPROF_RANK_MEMORY,    // persistent_lock: end of the committed memory
};

struct mprof_lock {
  atomic_uint word; // 0 free, 1 held, 2 held with a waiter
  unsigned char rank;
  // Number and start times of this lock's waiters, for the mutex profile; see
  // lock.c.
  _Atomic uint64_t waiting;
  uint64_t charged; // time of the last charge, in ticks; guarded by the lock
};
#define MPROF_LOCK_INIT(r) {.word = 0, .rank = (r)}

void mprof_lock_acquire(struct mprof_lock *l);
// Takes the lock, looking once a millisecond. Returns false if it was not free
// within ms milliseconds.
bool mprof_lock_acquire_within(struct mprof_lock *l, unsigned ms);
void mprof_lock_release(struct mprof_lock *l);
// Returns whether the calling thread holds a lock of this rank. For assertions:
// exists only without NDEBUG.
bool mprof_lock_is_held(enum mprof_rank rank);
// Makes the lock free, in a forked child, whoever held it in the parent.
void mprof_lock_reset(struct mprof_lock *l);
// How long a thread sleeps at a time while it waits for a lock. A futex call
// with this address as its timeout is known to be the runtime's, and may be
// interrupted by a signal.
extern const struct timespec mprof_lock_patience;
// Called after a lock was released, if other threads waited for it or if the
// thread still keeps such ticks. cycles: ticks that others have waited. frame:
// frame address of the release. lock_profile.c sets it once at start; NULL
// before. A pointer, since the profile is above this module.
extern void (*mprof_lock_observer)(uint64_t cycles, uintptr_t frame);
// Returns the total time that threads have waited for these locks, in ticks.
uint64_t mprof_lock_wait_ticks(void);

#endif // MPROF_RT_SYS_LOCK_H
