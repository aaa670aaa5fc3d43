// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the entries share: an allocation from the decision to count it to the
// event. Only the entry files include this.

#ifndef MPROF_RT_ENTRY_ALLOC_ENTRY_H
#define MPROF_RT_ENTRY_ALLOC_ENTRY_H

#include "heap/event.h"
#include "heap/placed_cache.h"
#include "heap/sample.h"
#include "sys/abi_words.h"
#include "sys/libc.h"
#include "sys/stats.h"

// Whose blocks they are: an entry file says so before it includes this.
#ifndef MPROF_ALLOCATOR_FAMILY
#define MPROF_ALLOCATOR_FAMILY MPROF_FAMILY_OTHER
#endif

// An allocation that is to be counted. Its stack starts at the return address
// of the function that uses this macro, which must be the entry itself.
#define MPROF_BEGIN(a, bytes, may_place)                                       \
  ((a)->size = (bytes), (a)->frame = (uintptr_t)__builtin_frame_address(0),    \
   mprof_sample_hit((bytes), &(a)->rate) &&                                    \
       ((a)->must_place = (may_place), true))

struct mprof_alloc {
  size_t size;
  uint64_t rate;
  uintptr_t frame;
  bool must_place; // or its free would not be seen
};

// Counts the block the allocator gave; NULL is counted nowhere. Returns ptr.
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

// Counts the free of a block if it was counted. may_keep: its family's blocks
// may be placed. True: the block is kept for the next samples and must not be
// freed.
static inline bool mprof_free_block(void *ptr, bool may_keep) {
  if (!ptr)
    return false;
  struct mprof_released r = mprof_event_free(ptr);
  if (!may_keep || ((uintptr_t)ptr & (MPROF_PAGE - 1)) != 0)
    return false;
  if (r.is_placed)
    return mprof_keep_put(ptr);
  mprof_keep_expose(ptr);
  return false;
}

#endif // MPROF_RT_ENTRY_ALLOC_ENTRY_H
