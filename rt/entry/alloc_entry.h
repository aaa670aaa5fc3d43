// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for the entries of allocating functions. The entry of a function f is
// the runtime's function __mprof_f, which an instrumented call site calls in
// place of f. Only entry files include this header. An entry has four steps:
//
//   1. MPROF_SAMPLE_ALLOC decides whether to count the allocation.
//   2. The entry calls the real f, that is, the allocator.
//   3. mprof_alloc_done creates an allocation event.
//   4. mprof_event_alloc counts the event.

#ifndef MPROF_RT_ENTRY_ALLOC_ENTRY_H
#define MPROF_RT_ENTRY_ALLOC_ENTRY_H

#include "heap/event.h"
#include "heap/sample.h"
#include "sys/abi_words.h"
#include "sys/libc.h"
#include "sys/stats.h"

// The allocator family of the blocks that an entry file counts: a value of enum
// mprof_family. A file with entries of malloc or operator new defines this
// macro before it includes this header.
#ifndef MPROF_ALLOCATOR_FAMILY
#define MPROF_ALLOCATOR_FAMILY MPROF_FAMILY_OTHER
#endif

// Decides whether to count an allocation of `bytes` bytes. If so, fills the
// struct mprof_alloc at a, and the expression is true. may_place: whether the
// family of functions, malloc's or operator new's, places counted blocks on
// page boundaries. Use this macro in the entry itself, because the recorded
// stack starts at the return address of the function that uses the macro.
#define MPROF_SAMPLE_ALLOC(a, bytes, may_place)                                \
  ((a)->size = (bytes), (a)->frame = (uintptr_t)__builtin_frame_address(0),    \
   mprof_sample_hit((bytes), &(a)->rate) &&                                    \
       ((a)->must_place = (may_place), true))

struct mprof_alloc {
  size_t size;
  uint64_t rate;
  uintptr_t frame;
  // True: count the block only if it is on a page boundary, because call sites
  // free all other blocks without a call of the runtime.
  bool must_place;
};

// Counts the block at ptr, which the allocator has returned. Returns ptr. Does
// not count the block if ptr is NULL, because the allocation has failed.
static inline void *mprof_alloc_done(const struct mprof_alloc *a, void *ptr) {
  if (a->must_place && !MPROF_IS_ON_PAGE(ptr)) {
    mprof_stat_add(MPROF_STAT_place_failed, 1);
    return ptr;
  }
  struct mprof_alloc_event ev = {.ptr = ptr,
                                 .size = a->size,
                                 .rate = a->rate,
                                 .frame = a->frame,
                                 .family = MPROF_ALLOCATOR_FAMILY};
  mprof_event_alloc(&ev);
  return ptr;
}

#endif // MPROF_RT_ENTRY_ALLOC_ENTRY_H
