// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the heap profile's four columns do not say of blocks, for the heapx
// profile: how many were temporary, how they were resized, and how much larger
// they were than what was asked for. Go has nothing like it.
//
// Only with the option heapx=1: a MEM bucket then has these counters behind its
// stack, and a shard's cell (counts.h) has its own behind it. So without the
// option there is no memory for them, and an event only looks at the option.

#ifndef MPROF_RT_BUCKET_HEAPX_H
#define MPROF_RT_BUCKET_HEAPX_H

#include "bucket/counts.h"
#include "sys/flags.h"

enum mprof_heapx_counter {
  MPROF_HEAPX_TEMPORARY,   // blocks, see mprof_heapx_last
  MPROF_HEAPX_IN_PLACE,    // resizes of blocks that stayed where they were
  MPROF_HEAPX_MOVED,       // and of those that did not
  MPROF_HEAPX_COPIED,      // bytes that the moves had to carry
  MPROF_HEAPX_SLACK,       // bytes that blocks had beyond their sizes
  MPROF_HEAPX_SLACK_FREED, // of those, in blocks that were freed
  MPROF_HEAPX_COUNTERS
};

// One cycle's counts.
struct mprof_heapx_cycle {
  _Atomic uint64_t n[MPROF_HEAPX_COUNTERS];
};

// A bucket's. Who writes what, and when, is as in mprof_mem_counts.
struct mprof_heapx_counts {
  struct mprof_heapx_cycle own[3];
  // Bytes that the last block measured here had beyond its size, + 1; 0: the
  // blocks of this stack are not measured. Atomic.
  _Atomic uint64_t usual_slack;
  _Alignas(64) struct mprof_heapx_cycle future[3];
  struct mprof_heapx_cycle taken[3];
  struct mprof_heapx_cycle active; // guarded by active_lock
};

// A shard's.
struct mprof_heapx_cell {
  _Alignas(64) struct mprof_heapx_cycle cycles[3];
};

static inline bool mprof_heapx_is_on(void) {
  return mprof_unlikely(mprof_flags.heapx);
}

// Where the counters of a bucket with that many frames begin, in bytes.
static inline size_t mprof_heapx_offset(uint32_t stack_len) {
  size_t end = sizeof(struct mprof_bucket) + stack_len * sizeof(mprof_pc);
  return (end + 63) / 64 * 64;
}
static inline struct mprof_heapx_counts *
mprof_heapx_of(const struct mprof_bucket *b) {
  return (struct mprof_heapx_counts *)((char *)b +
                                       mprof_heapx_offset(b->stack_len));
}

// --- events. Call only while the option is on. ---

// The calling thread has allocated a block that is counted in b; NULL: one that
// could not be counted. is_measured: malloc_usable_size knows it. Guard set.
void mprof_heapx_alloc(struct mprof_bucket *b, const void *ptr,
                       bool is_measured);
// The calling thread frees or resizes a block of b: whether it is the last that
// it has allocated. To be called once, before the address may be another's.
bool mprof_heapx_is_last(const void *ptr);
// The block stays: it is again.
void mprof_heapx_is_last_again(const void *ptr);
// Bytes that a block of b has beyond its size; 0 where that is not known.
size_t mprof_heapx_slack(const struct mprof_bucket *b, const void *ptr);
// The same of a block that is no more.
size_t mprof_heapx_usual_slack(const struct mprof_bucket *b);

// What is known of a block that is gone.
struct mprof_heapx_end {
  bool is_last;      // as mprof_heapx_is_last said
  int64_t countdown; // of the thread, before what freed the block
  size_t slack;
  // How it was resized; size is not read unless it was.
  bool is_resized, is_moved;
  size_t size;
};
// A block of b is gone. Guard set; is_inside: by what a handler interrupted.
void mprof_heapx_free(struct mprof_bucket *b, const struct mprof_heapx_end *e,
                      bool is_inside);

// Moves what was counted for an index to active. Call with active_lock held.
void mprof_heapx_publish_locked(struct mprof_bucket *b, unsigned index);

#endif // MPROF_RT_BUCKET_HEAPX_H
