// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counters of the heapx profile. This profile shows how many blocks were
// temporary, how blocks were resized, and how much larger blocks were than the
// requested sizes. The four columns of the heap profile do not show these
// facts. Go has no such profile.
//
// The counters exist only with the option heapx=1. Each MEM bucket (a bucket of
// the heap profile) has these counters behind its stack, and each cell
// (bucket.h) except `own` has them behind its ordinary counters. Without the
// option, the counters take no memory, and each event only tests the option.

#ifndef MPROF_RT_BUCKET_HEAPX_H
#define MPROF_RT_BUCKET_HEAPX_H

#include "bucket/bucket.h"
#include "options/flags.h"

enum mprof_heapx_counter {
  // Blocks that were freed by the thread that allocated them, before this
  // thread allocated another block (heapx.c).
  MPROF_HEAPX_TEMPORARY,
  MPROF_HEAPX_IN_PLACE,    // resizes that did not change the block's address
  MPROF_HEAPX_MOVED,       // resizes that moved the block
  MPROF_HEAPX_COPIED,      // bytes that were copied because a block moved
  MPROF_HEAPX_SLACK,       // usable bytes beyond the requested sizes
  MPROF_HEAPX_SLACK_FREED, // the part of SLACK that was in freed blocks
  MPROF_HEAPX_COUNTERS
};

// One set of heapx counters, for example for one index of the cycle machine
// (bucket.h).
struct mprof_heapx_cycle {
  _Atomic uint64_t n[MPROF_HEAPX_COUNTERS];
};

// The lifetimes of freed blocks. They are counted at once, not at the end of a
// cycle. All fields are atomic.
enum { MPROF_HEAPX_LIVES = 48 };
struct mprof_heapx_lives {
  _Atomic uint64_t ns; // sum of all lifetimes
  // n[i]: number of blocks that lived for 2^i to 2^(i+1) - 1 nanoseconds. The
  // last element also has the blocks that lived longer.
  _Atomic uint64_t n[MPROF_HEAPX_LIVES];
};

// The heapx counters of a bucket. Each field but `lives` has the same use as
// the field with the same name in struct mprof_mem_counts: the same threads
// write it, and the same locks guard it.
struct mprof_heapx_counts {
  struct mprof_heapx_cycle own[3];
  // 1 + slack in bytes of the last block of this bucket whose slack was
  // measured; 0: no block was measured. Atomic.
  _Atomic uint64_t usual_slack;
  _Alignas(64) struct mprof_heapx_cycle shared[3];
  struct mprof_heapx_cycle taken[3];
  struct mprof_heapx_cycle active; // guarded by active_lock
  struct mprof_heapx_lives lives;
};

// The heapx counters of one shard in a bucket that another shard owns. A shard
// stands for one thread, or for a few threads that share counters (counts.h).
struct mprof_heapx_cell {
  _Alignas(64) struct mprof_heapx_cycle cycles[3];
};

static inline bool mprof_heapx_is_on(void) {
  return mprof_unlikely(mprof_flags.heapx);
}

// Returns the offset in bytes from the start of a bucket to its heapx counters.
// words: number of words of the bucket's stack and of what follows the stack.
static inline size_t mprof_heapx_offset(size_t words) {
  size_t end = sizeof(struct mprof_bucket) + words * sizeof(mprof_pc);
  return (end + 63) / 64 * 64;
}
static inline struct mprof_heapx_counts *
mprof_heapx_of(const struct mprof_bucket *b) {
  const size_t words = b->stack_len + mprof_bucket_words_after(b);
  return (struct mprof_heapx_counts *)((char *)b + mprof_heapx_offset(words));
}

// --- events; call these functions only while the option is on ---

// Records that the calling thread has allocated the block at ptr. Call with the
// recursion guard set.
// b: the block's bucket, or NULL if the block could not be counted.
// is_measured: whether malloc_usable_size may be called for the block.
void mprof_heapx_alloc(struct mprof_bucket *b, const void *ptr,
                       bool is_measured);
// Returns whether the block at ptr is the last counted block that the calling
// thread has allocated. Call this function once when the thread frees or
// resizes the block, and before the allocator can give the address to another
// thread.
bool mprof_heapx_is_last(const void *ptr);
// Records again that ptr is the calling thread's last block. Call this if
// mprof_heapx_is_last has returned true and the reallocation of the block has
// failed.
void mprof_heapx_is_last_again(const void *ptr);
// Returns the slack of the block at ptr, which was counted in b. The slack is
// the number of usable bytes beyond the requested size; 0 if unknown.
size_t mprof_heapx_slack(const struct mprof_bucket *b, const void *ptr);
// Returns the slack in bytes of the last block of b that was measured; 0 if
// unknown. Use this as an estimate for a block of b that no longer exists.
size_t mprof_heapx_usual_slack(const struct mprof_bucket *b);

// Facts about a block that was freed or resized.
struct mprof_heapx_end {
  bool is_last;      // result of mprof_heapx_is_last for the block
  int64_t countdown; // sampling countdown before the free or resize
  size_t slack;      // usable bytes of the block beyond the requested size
  uint64_t life_ns;  // lifetime of the block; 0: unknown
  // is_resized: true: the block was resized to `size` bytes; false: it was
  // freed. is_moved: the resize has changed the block's address.
  bool is_resized, is_moved;
  size_t size;
};
// Counts the free or resize of a block that was counted in b. e describes the
// free or resize. Call with the recursion guard set. is_inside: whether the
// caller is a signal handler that has interrupted the runtime.
void mprof_heapx_free(struct mprof_bucket *b, const struct mprof_heapx_end *e,
                      bool is_inside);

// Adds b's heapx counters with the number `index` to b's active heapx counters,
// which profiles show. Only events since the last such call are added. Call
// with active_lock held.
void mprof_heapx_publish_locked(struct mprof_bucket *b, unsigned index);

#endif // MPROF_RT_BUCKET_HEAPX_H
