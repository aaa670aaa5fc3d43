// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cycle machine, which makes a snapshot consistent: what is allocated and
// freed in cycle C is accounted to C+2 and published when that cycle is
// flushed. (Go: mProfCycleHolder, mProf_NextCycle, mProf_Flush,
// mProf_PostSweep)

#ifndef MPROF_RT_BUCKET_CYCLE_H
#define MPROF_RT_BUCKET_CYCLE_H

#include "bucket/bucket.h"

// Cycles before the number wraps; a multiple of the ring's 3.
// (Go: mProfCycleWrap)
#define MPROF_CYCLE_WRAP (3u * (2u << 24))

// cycle << 1 | flushed: whether future[cycle] of all buckets has gone to
// active. (Go: mProfCycle)
extern struct mprof_cycle {
  // Every event reads it: nothing that others write lies in its cache line.
  _Alignas(64) atomic_uint word;
} mprof_cycle;

static inline uint32_t mprof_cycle_read(void) {
  return atomic_load_explicit(&mprof_cycle.word, memory_order_relaxed) >> 1;
}
// Index in future[] of explicit events now (C+2).
static inline unsigned mprof_cycle_explicit_index(void) {
  return (mprof_cycle_read() + 2) % 3;
}
// For tests: the cycle word, cycle << 1 | flushed.
void mprof_cycle_set_word(uint32_t word);
uint32_t mprof_cycle_word(void);

void mprof_cycle_next(void);
void mprof_cycle_flush(void);
void mprof_cycle_post_sweep(void);
// Both at once: publishes all that happened before the last mprof_cycle_next.
// For programs that free explicitly, whose frees are then all in.
void mprof_cycle_publish(void);
// Adds future[index] of all MEM buckets to active. Call with active_lock held.
void mprof_cycle_flush_locked(unsigned index);

// Who ends cycles. A dump does it where nobody else does, so that it shows
// everything up to now.
enum mprof_cycle_owner {
  MPROF_CYCLE_NOBODY,
  MPROF_CYCLE_PROGRAM,  // has called mprof_next_cycle
  MPROF_CYCLE_COLLECTOR // a garbage collector has finished a collection
};
void mprof_cycle_claim(enum mprof_cycle_owner owner);
// Whether a dump is to end the cycle. The program's own cycles do not go on
// after its exit; only a collector knows which of its objects are dead.
bool mprof_cycle_dump_ends_it(bool is_exit);
// Whether profiles stay as the first one found the heap: only finished cycles
// are wanted, and nobody has finished one.
bool mprof_cycle_is_missing(void);
// Whose last end of a cycle the figures at exit are of; NOBODY: they are of
// now.
enum mprof_cycle_owner mprof_cycle_as_of(void);
// In a forked child: the first cycle, which nobody owns.
void mprof_cycle_reset(void);

extern struct mprof_lock mprof_active_lock;

#endif // MPROF_RT_BUCKET_CYCLE_H
