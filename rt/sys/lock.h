// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's own locks, with ranks.

#ifndef MPROF_RT_SYS_LOCK_H
#define MPROF_RT_SYS_LOCK_H

#include "sys/base.h"

// Ranks: a thread may only take a lock of a higher rank than those it holds.
// All are taken with the thread's guard set (threads.h), so a signal handler
// that interrupts a holder drops its event instead of waiting for itself.
enum mprof_rank {
  MPROF_RANK_WRITE = 1, // writer_lock: one profile is written at a time
  MPROF_RANK_TRACE,     // trace_lock: sessions, and who has which row
  MPROF_RANK_STACKS,    // stacks_lock: the stacks of all threads
  MPROF_RANK_MODULES,   // modules_lock: which modules were where
  MPROF_RANK_REGISTRY,  // registry_lock: threads, wrappers, rate, masks
  MPROF_RANK_ACTIVE,    // active_lock: active of every memory record
  MPROF_RANK_INSERT,    // insert_lock: bucket table and list heads
  MPROF_RANK_PROFILES,  // profiles_lock, and the values of each such profile
  MPROF_RANK_CUSTOM,    // a slot of the table of arenas
  MPROF_RANK_ODD,       // odd_lock: live blocks off 16-byte boundaries
  MPROF_RANK_GC,        // gc_lock: live objects of a collector
  MPROF_RANK_STARTS,    // starts_lock: what threads are created with
  MPROF_RANK_WAITERS,   // a slot of the table of waiters
  MPROF_RANK_NAMES,     // names_lock: names of locks
  MPROF_RANK_LABELS,    // labels_lock: sets of labels
  MPROF_RANK_ENDED,     // threads that have ended in the trace
  MPROF_RANK_LOG,       // log_lock: the allocation log
  MPROF_RANK_TRACE_BUF, // free buffers of the trace
  MPROF_RANK_MEMORY,    // persistent_lock: the end of what is committed
};

struct mprof_lock {
  atomic_uint word; // 0 free, 1 held, 2 held and waited for
  unsigned char rank;
  // Waiting for this lock itself, for the mutex profile; see lock.c.
  _Atomic uint64_t waiting;
  uint64_t charged; // guarded by the lock
};
#define MPROF_LOCK_INIT(r) {.word = 0, .rank = (r)}

void mprof_lock_acquire(struct mprof_lock *l);
// False if it was not to be had for that long, looking once a millisecond.
bool mprof_lock_acquire_within(struct mprof_lock *l, unsigned ms);
void mprof_lock_release(struct mprof_lock *l);
// In a forked child: free, whoever held it in the parent.
void mprof_lock_reset(struct mprof_lock *l);
// How long a thread sleeps at a time for a lock: by its address one is known
// whose system call a signal may end.
extern const struct timespec mprof_lock_patience;
// Called after a lock was released, with the ticks that others have waited for
// it and the frame address of the release, if others waited or the thread keeps
// such ticks. The profile of these locks, which lies above this room, sets it
// once at start; NULL before.
extern void (*mprof_lock_observer)(uint64_t cycles, uintptr_t frame);
// What threads have waited for the profiler's locks, in ticks.
uint64_t mprof_lock_wait_ticks(void);

#endif // MPROF_RT_SYS_LOCK_H
