// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which families of functions may place their counted blocks on page
// boundaries. A call site can then tell from the address that a block is not
// counted (page_placement.c).

#ifndef MPROF_RT_HEAP_PAGE_PLACEMENT_H
#define MPROF_RT_HEAP_PAGE_PLACEMENT_H

#include "sys/abi_words.h"
#include "sys/base.h"

// Decides once, at start, which families may place blocks. page_placement.c
// explains the rules.
void mprof_place_init(void);
extern struct mprof_place {
  bool c;        // malloc's family may place blocks, with posix_memalign
  bool cxx;      // operator new may place blocks, with its aligned form
  bool is_glibc; // malloc is glibc's
} mprof_place;   // written once by mprof_place_init
// Return whether a family places its counted blocks at the current rate.
static inline bool mprof_place_c(void) {
  return mprof_place.c && __mprof_free_mask != 0;
}
static inline bool mprof_place_cxx(void) {
  return mprof_place.cxx && __mprof_delete_mask != 0;
}
// Sets the free masks for a rate: call sites apply a mask to an address to test
// for a page boundary. A mask only ever changes to 0.
void mprof_place_set_masks(uint64_t rate);
// Returns whether the memory of a block that posix_memalign has just returned
// is known to be zero.
bool mprof_place_is_zeroed(const void *p, size_t size);

#endif // MPROF_RT_HEAP_PAGE_PLACEMENT_H
