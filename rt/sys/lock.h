// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's own locks. They use futexes directly, because the runtime hooks
// pthread_mutex. Each lock has a rank, and threads take locks in the order of
// their ranks, so no deadlock can occur. In builds without NDEBUG, the process
// ends if a thread takes a lock out of order.

#ifndef MPROF_RT_SYS_LOCK_H
#define MPROF_RT_SYS_LOCK_H

#include "sys/base.h"

// Ranks of the locks. A thread may take a lock only if the lock's rank is
// higher than the ranks of all locks that the thread holds. A thread sets its
// recursion guard (tls.h) before it takes a lock. While the guard is set, the
// runtime drops the events of a signal handler. So a handler that has
// interrupted the holder of a lock never waits for that lock. The comment on
// each rank names the lock and what the lock guards.
enum mprof_rank {
  MPROF_RANK_WRITE = 1, // writer_lock: writing of profiles, one at a time
  MPROF_RANK_TRACE,     // trace_lock: sessions of the trace
  MPROF_RANK_STACKS,    // stacks_lock: collecting all threads' stacks
  MPROF_RANK_UNLOADS,   // modules_lock: lists of loaded and unloaded modules
  MPROF_RANK_CPU,       // cpu_lock: timers and sessions of the CPU profile
  // registry_lock: list of threads, names of wrapper functions, heap rate,
  // masks of abi_words.h
  MPROF_RANK_REGISTRY,
  MPROF_RANK_ACTIVE,    // active_lock: published counts of all heap buckets
  MPROF_RANK_RANGES,    // ranges_lock: the ledger of mapped memory
  MPROF_RANK_INSERT,    // insert_lock: insertion into the bucket table
  MPROF_RANK_PROFILES,  // profiles_lock, and each custom profile's lock
  MPROF_RANK_CUSTOM,    // lock of a slot in the table of arenas
  MPROF_RANK_ODD,       // odd_lock: live blocks not aligned to 16 bytes
  MPROF_RANK_GC,        // gc_lock: counted objects of a garbage collector
  MPROF_RANK_STARTS,    // starts_lock: records of starting threads
  MPROF_RANK_WAITERS,   // lock of a slot in the table of waiters
  MPROF_RANK_ORDER,     // order_lock: the graph of locks (lock_graph.h)
  MPROF_RANK_NAMES,     // names_lock: names that the program gave to its locks
  MPROF_RANK_LABELS,    // labels_lock: sets of labels
  MPROF_RANK_ENDED,     // lock of the trace's list of ended threads
  MPROF_RANK_LOG,       // log_lock: the allocation log
  MPROF_RANK_TRACE_BUF, // lock of the trace's free buffers
  MPROF_RANK_PEAK,      // peak_lock: counts at the peak of the heap
  MPROF_RANK_BIRTHS,    // lock of a part of the table of births
  MPROF_RANK_MEMORY,    // persistent_lock: commit of persistent memory
  MPROF_RANKS,          // number of ranks, plus 1
};

struct mprof_lock {
  // 0: free. Otherwise the inverted address of the holder's mprof_tls, with bit
  // 0 set if a thread waits. The name of the holder is part of the word, so
  // that a thread that has left the runtime by longjmp knows whether it holds
  // the lock.
  _Atomic uintptr_t word;
  unsigned char rank;
  // Number of this lock's waiters and sum of their start times, for the mutex
  // profile; see lock.c.
  _Atomic uint64_t waiting;
  // Time, in ticks, of the last release that was charged with waiting time,
  // that is, that counted as the reason why other threads had waited. Guarded
  // by the lock itself.
  uint64_t charged;
};
#define MPROF_LOCK_INIT(r) {.word = 0, .rank = (r)}

void mprof_lock_acquire(struct mprof_lock *l);
// Tries to take the lock once a millisecond. Returns true if the thread has
// taken the lock. Returns false if the lock was not free within ms
// milliseconds.
bool mprof_lock_acquire_within(struct mprof_lock *l, unsigned ms);
// Releases the lock that the thread took last.
void mprof_lock_release(struct mprof_lock *l);
// Releases all locks that the calling thread holds, and ends its wait for a
// lock. For a thread that has left the runtime by longjmp (tls.h). What a
// released lock guards may lack the change that the thread had begun.
void mprof_locks_abandon(void);
// Returns whether the calling thread holds a lock of this rank. This function
// is for assertions and exists only in builds without NDEBUG.
bool mprof_lock_is_held(enum mprof_rank rank);
// Sets the lock to free in a forked child. The parent's thread that held the
// lock does not exist in the child and so cannot release it.
void mprof_lock_reset(struct mprof_lock *l);
// Function that is called after the release of a lock if other threads have
// waited for the lock. It is also called if the calling thread has ticks that
// are not yet in the mutex profile (mprof_tls.lock_profile). cycles: ticks that
// other threads have waited. frame: frame address of mprof_lock_release.
// contention.c may set the pointer once at start; before, it is NULL. A
// pointer is used, because this file must not depend on the mutex profile.
extern MPROF_HIDDEN void (*mprof_lock_observer)(uint64_t cycles,
                                                uintptr_t frame);
// Returns the total time in ticks that threads have waited for locks of the
// runtime.
uint64_t mprof_lock_wait_ticks(void);

#endif // MPROF_RT_SYS_LOCK_H
