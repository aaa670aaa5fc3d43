// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whose blocks may be put on page boundaries.

#ifndef MPROF_RT_HEAP_PAGE_PLACEMENT_H
#define MPROF_RT_HEAP_PAGE_PLACEMENT_H

#include "sys/abi_words.h"
#include "sys/base.h"

// Decides once at start which families may be placed; see page_placement.c.
void mprof_place_init(void);
extern struct mprof_place {
  bool c;        // malloc family: by posix_memalign
  bool cxx;      // operator new: by its aligned form
  bool is_glibc; // malloc is glibc's
} mprof_place;   // written once by mprof_place_init
// Whether a family's counted blocks are placed now.
static inline bool mprof_place_c(void) {
  return mprof_place.c && __mprof_free_mask != 0;
}
static inline bool mprof_place_cxx(void) {
  return mprof_place.cxx && __mprof_delete_mask != 0;
}
// Sets the masks for a rate; they only ever become 0.
void mprof_place_set_masks(uint64_t rate);
// Whether a block that posix_memalign just gave is known to hold zeros.
bool mprof_place_is_zeroed(const void *p, size_t size);

#endif // MPROF_RT_HEAP_PAGE_PLACEMENT_H
