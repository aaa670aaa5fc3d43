// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the heap profile of the peak, which is the moment when the most memory
// was in use (option peak). The memory in use is estimated from the sampled
// blocks. With heap_rate=1, it is exact. Go has no such profile.
//
// A copy of all counters at each new peak would take too long. Instead, the
// peaks are numbered, and each bucket stores the number of the last peak before
// its last event. The first event of a bucket after a peak first copies the
// bucket's counts, because these are the counts at the peak. So each event
// copies the counts of one bucket at most:
//
//   peak number   1        2                  the snapshot takes
//   bucket A      alloc    alloc (new peak)   the present counts
//   bucket B      alloc         free          the copy that the free has made
//   bucket C      alloc                       the present counts
//
// The counters of cells cannot serve here, because each thread adds to its own
// counters, and their sum at one moment is not known.

#ifndef MPROF_RT_BUCKET_PEAK_H
#define MPROF_RT_BUCKET_PEAK_H

#include "options/flags.h"
#include "sys/base.h"

struct mprof_bucket;
struct mprof_curve;

// Numbers of blocks that were allocated and freed.
struct mprof_peak_pair {
  uint64_t allocs, frees;
};

// With the option peak, this struct precedes each MEM bucket in memory. All
// fields except inside are guarded by peak_lock.
struct mprof_peak_counts {
  _Alignas(64) struct mprof_peak_pair now;
  struct mprof_peak_pair
      at_peak;   // valid if peak is the number of the last peak
  uint64_t peak; // number of the last peak before the last event of the bucket
  int64_t
      weight; // estimated bytes for which a counted block stands; 0: unknown
  // Number of frees that are not in now.frees yet, because they were made in
  // signal handlers that had interrupted the runtime. Atomic.
  _Atomic uint64_t inside;
};
_Static_assert(sizeof(struct mprof_peak_counts) == 64,
               "the bucket that follows must begin a cache line");

static inline bool mprof_peak_is_on(void) {
  return mprof_unlikely(mprof_flags.peak);
}
// Returns the number of bytes that precede a MEM bucket in memory.
static inline size_t mprof_peak_room(void) {
  return mprof_peak_is_on() ? sizeof(struct mprof_peak_counts) : 0;
}

// These functions count an allocation or a free in b. Call them only while the
// option is on, and with the recursion guard set. They acquire peak_lock.
void mprof_peak_alloc(struct mprof_bucket *b);
void mprof_peak_free(struct mprof_bucket *b);
// Counts a free in a signal handler that has interrupted the runtime. The
// interrupted code may hold peak_lock, so this function takes no lock.
void mprof_peak_free_inside(struct mprof_bucket *b);

// Facts about the peak.
struct mprof_peak {
  int64_t bytes;  // estimated bytes in use at the peak
  uint64_t ticks; // time of the peak (clock.h); 0: no memory was in use yet
};
// Returns the facts about the last peak. Call with peak_lock held.
struct mprof_peak mprof_peak_locked(void);
// Copies the estimated bytes in use over time, until now. Returns those now.
int64_t mprof_peak_curve(struct mprof_curve *curve);
// Returns the counts of b at the last peak. Call with peak_lock held.
struct mprof_peak_pair mprof_peak_of_locked(struct mprof_bucket *b);
// Begins the bytes in use over time. Call it at start, before the first event.
void mprof_peak_begin(void);
// Forgets all events. Call this in a forked child.
void mprof_peak_reset(void);

extern MPROF_HIDDEN struct mprof_lock mprof_peak_lock;

#endif // MPROF_RT_BUCKET_PEAK_H
