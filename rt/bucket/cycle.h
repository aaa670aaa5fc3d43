// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cycle machine, which makes a heap profile consistent. Each event counts
// in one of three indices. An index is published, that is, added to the active
// counts that profiles show, only after its cycle has ended. So a profile shows
// the heap at the end of a cycle, and not in the middle of a request.
// (Go: mProfCycleHolder, mProf_NextCycle, mProf_Flush, mProf_PostSweep)

#ifndef MPROF_RT_BUCKET_CYCLE_H
#define MPROF_RT_BUCKET_CYCLE_H

#include "bucket/bucket.h"

// Number of cycles before the cycle number wraps around; a multiple of 3, the
// number of indices. (Go: mProfCycleWrap)
#define MPROF_CYCLE_WRAP (3u * (2u << 24))

// The current cycle C, as C << 1 | flushed. flushed: index C % 3 of all buckets
// was added to active. (Go: mProfCycle)
//
// In cycle C, malloc and free count in index C+2, and the frees that a
// collector finds count in index C+1. A row below is an index (modulo 3), "|" a
// call of mprof_cycle_next:
//
//   cycle    C             C+1            C+2            C+3
//      |--------------|--------------|--------------|--------------|--> time
//  C+2   malloc, free   sweep's frees  flush: active
//  C+3                  malloc, free   sweep's frees  flush: active
//  C+4                                 malloc, free   sweep's frees
//
// A collector finds out in cycle C+1 which objects of cycle C are dead. So its
// frees join the allocations of cycle C, and a profile does not show newer
// objects as leaks. mprof_cycles_post_sweep publishes index C+2 at the end of
// the sweep in cycle C+1. A program that frees explicitly reports each free in
// time, so mprof_cycle_publish publishes index C+2 at the start of cycle C+1.
extern struct mprof_cycle {
  // Every event reads the word, so no written data may share its cache line.
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
// Publishes index C % 3, once in a cycle. Like all functions here that publish,
// it takes active_lock: call it with the guard set.
void mprof_cycles_flush(void);
// Publishes index (C+1) % 3, at the end of a collector's sweep.
void mprof_cycles_post_sweep(void);
// Publishes both indices: all events before the last mprof_cycle_next. For
// programs that free explicitly, whose frees have all been counted by then.
void mprof_cycle_publish(void);
// Publishes an index of all MEM buckets. Call with active_lock held.
void mprof_cycle_flush_locked(unsigned index);

// Who ends cycles. If nobody does, a dump ends the cycle itself, so that it
// shows all events up to now.
enum mprof_cycle_owner {
  MPROF_CYCLE_NOBODY,
  MPROF_CYCLE_PROGRAM,  // has called mprof_next_cycle
  MPROF_CYCLE_COLLECTOR // a garbage collector has finished a collection
};
// Notes that owner ends cycles. A collector takes precedence over the program.
void mprof_cycle_claim(enum mprof_cycle_owner owner);
// Returns whether a dump must end the cycle. At the exit it does so even if the
// program ends cycles, since the program will end no more. Under a collector it
// never does: only the collector knows which objects are dead.
bool mprof_cycle_dump_ends_it(bool is_exit);
// Returns whether all profiles repeat the first one: the option strict_cycles
// asks for finished cycles only, and nobody has finished a cycle.
bool mprof_cycle_is_missing(void);
// Returns whose last end of a cycle the figures at exit refer to, or
// MPROF_CYCLE_NOBODY if they refer to the exit itself.
enum mprof_cycle_owner mprof_cycle_as_of(void);
// Returns to the first cycle, which nobody owns. For a forked child.
void mprof_cycle_reset(void);

extern struct mprof_lock mprof_active_lock;

#endif // MPROF_RT_BUCKET_CYCLE_H
