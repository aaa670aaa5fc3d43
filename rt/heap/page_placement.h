// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which families of functions place their counted blocks on page
// boundaries. If a family places its blocks, a call site that frees a block off
// a page boundary knows that the block is not counted (page_placement.c).

#ifndef MPROF_RT_HEAP_PAGE_PLACEMENT_H
#define MPROF_RT_HEAP_PAGE_PLACEMENT_H

#include "sys/abi_words.h"
#include "sys/base.h"

// Decides once, at start, which families place their counted blocks.
// page_placement.c explains the rules.
void mprof_place_init(void);
extern struct mprof_place {
  bool c;        // malloc's family may place blocks by posix_memalign
  bool cxx;      // operator new may place blocks by posix_memalign
  bool is_glibc; // malloc is glibc's malloc
} mprof_place;   // written once by mprof_place_init
// Return whether a family of functions places its counted blocks on page
// boundaries at the current rate.
static inline bool mprof_place_c(void) {
  return mprof_place.c && __mprof_free_mask != 0;
}
static inline bool mprof_place_cxx(void) {
  return mprof_place.cxx && __mprof_delete_mask != 0;
}
// Sets the free masks for a sampling rate. Call sites test with these masks
// whether an address is on a page boundary. A mask can only change to 0.
void mprof_place_set_masks(uint64_t rate);
// Returns whether all bytes of a block are known to be 0. p is a block that
// posix_memalign has just returned.
bool mprof_place_is_zeroed(const void *p, size_t size);

#endif // MPROF_RT_HEAP_PAGE_PLACEMENT_H
