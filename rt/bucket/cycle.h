// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cycle machine, which makes a heap profile consistent. Time is divided
// into cycles. Each event is counted in one of three sets of counters, which
// have the indices 0, 1 and 2. To publish an index means to add its counters to
// the active counters, which profiles show. An index is published only after
// its cycle has ended. So a profile shows the heap at the end of a cycle. For
// example, if the program ends a cycle after each request, no profile shows
// half a request. (Go: mProfCycleHolder, mProf_NextCycle, mProf_Flush,
// mProf_PostSweep)

#ifndef MPROF_RT_BUCKET_CYCLE_H
#define MPROF_RT_BUCKET_CYCLE_H

#include "bucket/bucket.h"

// Number of cycles before the cycle number wraps around; a multiple of 3, the
// number of indices. (Go: mProfCycleWrap)
#define MPROF_CYCLE_WRAP (3u * (2u << 24))

// Each bucket has three sets of counters, with the indices 0 to 2. To publish
// an index means to add its counters to the bucket's active counters, which
// profiles show.
//
// `word` is C << 1 | flushed. C is the number of the current cycle. flushed is
// 1 if index C % 3 of all buckets was published in this cycle. (Go: mProfCycle)
//
// In cycle C, malloc and free are counted in index C+2 (modulo 3). The frees
// that a garbage collector makes in cycle C are counted in index C+1 (modulo
// 3). In the diagram, each row is an index (modulo 3), and each "|" is a call
// of mprof_cycle_next:
//
//   cycle    C             C+1            C+2            C+3
//      |--------------|--------------|--------------|--------------|--> time
//  C+2   malloc, free   sweep's frees  published
//  C+3                  malloc, free   sweep's frees  published
//  C+4                                 malloc, free   sweep's frees
//
// A collector's sweep in cycle C+1 frees the objects that died in cycle C.
// Index C+2 therefore gets the allocations of cycle C and the frees of the
// objects that died in cycle C. Otherwise, a profile would show dead objects as
// live only because the collector has not swept yet.
//
// At the end of the sweep, mprof_cycles_post_sweep publishes index C+2. A
// program without a collector has counted all frees of cycle C when cycle C
// ends. For such a program, mprof_cycle_publish publishes index C+2 already at
// the start of cycle C+1.
extern MPROF_HIDDEN struct mprof_cycle {
  // Every event reads the word. Data that is written often must not be in the
  // same cache line, because each write would slow down the readers of the
  // word.
  _Alignas(64) atomic_uint word;
} mprof_cycle;

static inline uint32_t mprof_cycle_read(void) {
  return atomic_load_explicit(&mprof_cycle.word, memory_order_relaxed) >> 1;
}
// Returns the index in which malloc and free are counted in the current cycle
// C: (C+2) % 3.
static inline unsigned mprof_cycle_explicit_index(void) {
  return (mprof_cycle_read() + 2) % 3;
}
// For tests: set and get the field `word`, which is cycle << 1 | flushed.
void mprof_cycle_set_word(uint32_t word);
uint32_t mprof_cycle_word(void);

// Ends the current cycle: adds 1 to the cycle number C, without a lock. Signal
// handlers may call this function.
void mprof_cycle_next(void);
// Publishes index C % 3, unless the index was already published in the current
// cycle C. Takes active_lock. Call with the recursion guard set.
void mprof_cycles_flush(void);
// Publishes index (C+1) % 3. Call this at the end of a collector's sweep, with
// the recursion guard set. Takes active_lock.
void mprof_cycles_post_sweep(void);
// Publishes the indices C % 3 and (C+1) % 3, where C is the current cycle. They
// have the events of the two cycles before C, because events of cycle N are
// counted in index (N+2) % 3. Use this in programs without a garbage collector,
// because these programs have already counted all frees of the last cycle.
// Takes active_lock. Call with the recursion guard set.
void mprof_cycle_publish(void);
// Publishes one index of all MEM buckets, which are the buckets of the heap
// profile. Call with active_lock held.
void mprof_cycle_flush_locked(unsigned index);
// Publishes all indices of all MEM buckets, and so all events up to now. Call
// with active_lock held.
void mprof_cycle_publish_all_locked(void);

// The party that ends cycles. If nobody ends cycles, each dump of a profile
// ends the current cycle, so that the profile shows all events until the dump.
enum mprof_cycle_owner {
  MPROF_CYCLE_NOBODY,
  MPROF_CYCLE_PROGRAM,  // the program has called mprof_next_cycle
  MPROF_CYCLE_COLLECTOR // a garbage collector has finished a collection
};
// Records that `owner` ends cycles. If a collector and the program both end
// cycles, the recorded owner is the collector.
void mprof_cycle_claim(enum mprof_cycle_owner owner);
// Returns whether a dump of a profile must end the current cycle. is_exit is
// true for the dump at exit.
// - If nobody ends cycles, each dump ends the cycle.
// - If the program ends cycles, only the dump at exit ends the cycle, because
//   the program will not end another cycle.
// - If a collector ends cycles, no dump ends the cycle, because only the
//   collector knows which objects are dead.
// - With the option strict_cycles, no dump ends the cycle.
bool mprof_cycle_dump_ends_it(bool is_exit);
// Returns whether the option strict_cycles is set and no cycle has ended. With
// this option, profiles show only the events of ended cycles, with one
// exception: the first profile shows all events so far if no cycle has ended.
// Until a cycle ends, later profiles show the same figures as the first
// profile.
bool mprof_cycle_is_missing(void);
// Returns who ends cycles, the program or a collector, if the profile at exit
// shows only the events until the end of the last cycle. Returns
// MPROF_CYCLE_NOBODY if this profile shows all events until the exit, or if no
// cycle has ended.
enum mprof_cycle_owner mprof_cycle_as_of(void);
// Resets the cycle number and the cycle owner to their initial values. Call
// this in a forked child.
void mprof_cycle_reset(void);

extern MPROF_HIDDEN struct mprof_lock mprof_active_lock;

#endif // MPROF_RT_BUCKET_CYCLE_H
