// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counters of the heapx profile, for facts that the heap profile's four columns
// do not show: how many blocks were temporary, how blocks were resized, and how
// much larger blocks were than the requested sizes. Go has no such profile.
//
// The counters exist only with the option heapx=1. Then they lie behind the
// stack of a MEM bucket and behind a shard's cell (counts.h). Without the
// option they take no memory, and an event only tests the option.

#ifndef MPROF_RT_BUCKET_HEAPX_H
#define MPROF_RT_BUCKET_HEAPX_H

#include "bucket/counts.h"
#include "sys/flags.h"

enum mprof_heapx_counter {
  MPROF_HEAPX_TEMPORARY,   // blocks; see mprof_heapx_is_last
  MPROF_HEAPX_IN_PLACE,    // resizes that left the block at its address
  MPROF_HEAPX_MOVED,       // resizes that moved the block
  MPROF_HEAPX_COPIED,      // bytes that the moves had to copy
  MPROF_HEAPX_SLACK,       // usable bytes beyond the requested sizes
  MPROF_HEAPX_SLACK_FREED, // part of SLACK in freed blocks
  MPROF_HEAPX_COUNTERS
};

// The counts of one cycle.
struct mprof_heapx_cycle {
  _Atomic uint64_t n[MPROF_HEAPX_COUNTERS];
};

// The counters of a bucket. Writers, locks and atomic accesses are as in struct
// mprof_mem_counts.
struct mprof_heapx_counts {
  struct mprof_heapx_cycle own[3];
  // Slack of the last measured block of this bucket in bytes, + 1. 0: the
  // blocks of this stack are not measured. Atomic.
  _Atomic uint64_t usual_slack;
  _Alignas(64) struct mprof_heapx_cycle future[3];
  struct mprof_heapx_cycle taken[3];
  struct mprof_heapx_cycle active; // guarded by active_lock
};

// The counters of a shard for a bucket that another shard owns.
struct mprof_heapx_cell {
  _Alignas(64) struct mprof_heapx_cycle cycles[3];
};

static inline bool mprof_heapx_is_on(void) {
  return mprof_unlikely(mprof_flags.heapx);
}

// Returns the offset in bytes of the counters in a bucket with stack_len
// frames.
static inline size_t mprof_heapx_offset(uint32_t stack_len) {
  size_t end = sizeof(struct mprof_bucket) + stack_len * sizeof(mprof_pc);
  return (end + 63) / 64 * 64;
}
static inline struct mprof_heapx_counts *
mprof_heapx_of(const struct mprof_bucket *b) {
  return (struct mprof_heapx_counts *)((char *)b +
                                       mprof_heapx_offset(b->stack_len));
}

// --- events; call these functions only while the option is on ---

// Notes that the calling thread has allocated a block. b is the block's bucket,
// or NULL if the block could not be counted. is_measured: malloc_usable_size
// knows the block. Call with the guard set.
void mprof_heapx_alloc(struct mprof_bucket *b, const void *ptr,
                       bool is_measured);
// Returns whether the block at ptr, which the calling thread frees or resizes,
// is the last block that it has allocated. Call it once, before another thread
// can get the address.
bool mprof_heapx_is_last(const void *ptr);
// Makes the block the thread's last block again, since its reallocation failed.
void mprof_heapx_is_last_again(const void *ptr);
// Returns the usable bytes of a block of b beyond the requested size; 0 if that
// is unknown.
size_t mprof_heapx_slack(const struct mprof_bucket *b, const void *ptr);
// Returns the slack in bytes to assume for a block of b that no longer exists.
size_t mprof_heapx_usual_slack(const struct mprof_bucket *b);

// Facts about a block that no longer exists.
struct mprof_heapx_end {
  bool is_last;      // result of mprof_heapx_is_last
  int64_t countdown; // the thread's, before the call that freed the block
  size_t slack;
  // How the block was resized. size, in bytes, is read only if is_resized.
  bool is_resized, is_moved;
  size_t size;
};
// Counts the free or resize of a block of b. Call with the guard set.
// is_inside: the caller is a signal handler that has interrupted the runtime.
void mprof_heapx_free(struct mprof_bucket *b, const struct mprof_heapx_end *e,
                      bool is_inside);

// Moves the events of b that were counted for an index to active. Call with
// active_lock held.
void mprof_heapx_publish_locked(struct mprof_bucket *b, unsigned index);

#endif // MPROF_RT_BUCKET_HEAPX_H
