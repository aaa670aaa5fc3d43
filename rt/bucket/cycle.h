// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cycle machine, which makes a heap profile consistent. Time is divided
// into cycles. Each event is counted in one of three sets of counters, which
// have the indices 0, 1 and 2. To publish an index is to add its counters to
// the active counters, which profiles show. An index is published only after
// its cycle has ended. So a profile shows the heap at the end of a cycle, and
// not in the middle of a request.
// (Go: mProfCycleHolder, mProf_NextCycle, mProf_Flush, mProf_PostSweep)

#ifndef MPROF_RT_BUCKET_CYCLE_H
#define MPROF_RT_BUCKET_CYCLE_H

#include "bucket/bucket.h"

// Number of cycles before the cycle number wraps around; a multiple of 3, the
// number of indices. (Go: mProfCycleWrap)
#define MPROF_CYCLE_WRAP (3u * (2u << 24))

// Each bucket has three sets of counts, with the indices 0 to 2. To publish an
// index is to add its counts to the bucket's active counts, which the profiles
// show.
//
// The word holds the number C of the current cycle as C << 1 | flushed. flushed
// is 1 if index C % 3 of all buckets was published in this cycle.
// (Go: mProfCycle)
//
// In cycle C, malloc and free are counted in index C+2 (modulo 3). The frees
// that a garbage collector makes in cycle C are counted in index C+1. In the
// diagram below, each row is an index (modulo 3), and each "|" is a call of
// mprof_cycle_next:
//
//   cycle    C             C+1            C+2            C+3
//      |--------------|--------------|--------------|--------------|--> time
//  C+2   malloc, free   sweep's frees  published
//  C+3                  malloc, free   sweep's frees  published
//  C+4                                 malloc, free   sweep's frees
//
// A collector finds out in cycle C+1 which objects of cycle C are dead. The
// collector's frees are therefore counted in the same index as the allocations
// of cycle C. So a profile does not show objects as leaks only because the
// collector has not swept yet. mprof_cycles_post_sweep publishes index C+2 at
// the end of the sweep in cycle C+1. In a program without a collector, all
// frees of cycle C are counted when the cycle ends. Therefore
// mprof_cycle_publish publishes index C+2 already at the start of cycle C+1.
extern struct mprof_cycle {
  // Every event reads the word. So no data that is often written may share the
  // word's cache line.
  _Alignas(64) atomic_uint word;
} mprof_cycle;

static inline uint32_t mprof_cycle_read(void) {
  return atomic_load_explicit(&mprof_cycle.word, memory_order_relaxed) >> 1;
}
// Returns the index for malloc and free in the current cycle: (C+2) % 3.
static inline unsigned mprof_cycle_explicit_index(void) {
  return (mprof_cycle_read() + 2) % 3;
}
// For tests: set and get the whole word, cycle << 1 | flushed.
void mprof_cycle_set_word(uint32_t word);
uint32_t mprof_cycle_word(void);

// Ends the cycle: adds 1 to C, without a lock. May be called in signal
// handlers.
void mprof_cycle_next(void);
// Publishes index C % 3, unless this cycle has already published it. Takes
// active_lock. Call with the guard set.
void mprof_cycles_flush(void);
// Publishes index (C+1) % 3, at the end of a collector's sweep. Takes
// active_lock. Call with the guard set.
void mprof_cycles_post_sweep(void);
// Publishes the indices C % 3 and (C+1) % 3, and so all events before the last
// mprof_cycle_next. For programs without a collector, which have counted all
// frees by then. Takes active_lock. Call with the guard set.
void mprof_cycle_publish(void);
// Publishes an index of all MEM buckets. Call with active_lock held.
void mprof_cycle_flush_locked(unsigned index);

// The party that ends cycles. If nobody ends cycles, each dump of a profile
// ends the current cycle, so that the profile shows all events up to now.
enum mprof_cycle_owner {
  MPROF_CYCLE_NOBODY,
  MPROF_CYCLE_PROGRAM,  // the program has called mprof_next_cycle
  MPROF_CYCLE_COLLECTOR // a garbage collector has finished a collection
};
// Records that owner ends cycles. A collector takes precedence over the
// program.
void mprof_cycle_claim(enum mprof_cycle_owner owner);
// Returns whether a dump must end the cycle.
// - The dump at exit ends the cycle even if the program ends cycles, because
//   the program will end no further cycle.
// - If a collector ends cycles, no dump ends a cycle, because only the
//   collector knows which objects are dead.
// - With the option strict_cycles, no dump ends a cycle.
bool mprof_cycle_dump_ends_it(bool is_exit);
// Returns whether all profiles show the same figures as the first profile. This
// is the case if the option strict_cycles requests finished cycles only, and
// nobody has finished a cycle.
bool mprof_cycle_is_missing(void);
// Returns the party whose last end of a cycle determines the figures at exit.
// Returns MPROF_CYCLE_NOBODY if the figures include all events up to the exit.
enum mprof_cycle_owner mprof_cycle_as_of(void);
// Resets the machine to the first cycle, with no owner, in a forked child.
void mprof_cycle_reset(void);

extern struct mprof_lock mprof_active_lock;

#endif // MPROF_RT_BUCKET_CYCLE_H
