// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for the entries of allocating functions, from the decision to count
// an allocation to the event that counts it. Only entry files include this
// header.
//
//   entry: MPROF_SAMPLE_ALLOC -> allocator beneath -> mprof_alloc_done -> event

#ifndef MPROF_RT_ENTRY_ALLOC_ENTRY_H
#define MPROF_RT_ENTRY_ALLOC_ENTRY_H

#include "heap/event.h"
#include "heap/placed_cache.h"
#include "heap/sample.h"
#include "sys/abi_words.h"
#include "sys/libc.h"
#include "sys/stats.h"

// The allocator family of the blocks that this entry file counts. The entry
// file defines the family before it includes this header.
#ifndef MPROF_ALLOCATOR_FAMILY
#define MPROF_ALLOCATOR_FAMILY MPROF_FAMILY_OTHER
#endif

// Decides whether to count an allocation of `bytes` bytes, and fills a if so.
// The expression is true if the allocation is counted. Use the macro in the
// entry itself: the recorded stack starts at the return address of the function
// that uses the macro.
#define MPROF_SAMPLE_ALLOC(a, bytes, may_place)                                \
  ((a)->size = (bytes), (a)->frame = (uintptr_t)__builtin_frame_address(0),    \
   mprof_sample_hit((bytes), &(a)->rate) &&                                    \
       ((a)->must_place = (may_place), true))

struct mprof_alloc {
  size_t size;
  uint64_t rate;
  uintptr_t frame;
  bool must_place; // count only on a page boundary: else the free is not seen
};

// Counts the block ptr that the allocator returned, and returns ptr. Does not
// count NULL, which means that the allocation failed.
static inline void *mprof_alloc_done(const struct mprof_alloc *a, void *ptr) {
  bool on_page = ((uintptr_t)ptr & (MPROF_PAGE - 1)) == 0;
  if (a->must_place && !on_page) {
    mprof_stat_add(MPROF_STAT_place_failed, 1);
    return ptr;
  }
  struct mprof_alloc_event ev = {.ptr = ptr,
                                 .size = a->size,
                                 .rate = a->rate,
                                 .frame = a->frame,
                                 .is_placed = a->must_place,
                                 .family = MPROF_ALLOCATOR_FAMILY};
  mprof_event_alloc(&ev);
  return ptr;
}

// Counts the free of the block at ptr if the block was counted. may_keep: the
// family places its counted blocks on page boundaries. Returns true if the
// runtime keeps the block for a later sample. The caller must not free such a
// block.
static inline bool mprof_free_block(void *ptr, bool may_keep) {
  if (!ptr)
    return false;
  struct mprof_released r = mprof_event_free(ptr);
  if (!may_keep || ((uintptr_t)ptr & (MPROF_PAGE - 1)) != 0)
    return false;
  if (r.is_placed)
    return mprof_placed_put(ptr);
  mprof_placed_expose(ptr);
  return false;
}

#endif // MPROF_RT_ENTRY_ALLOC_ENTRY_H
