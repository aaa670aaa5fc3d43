// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places counted blocks on page boundaries.
//
// The malloc family and the family of operator new may place their counted
// blocks on page boundaries. If a family does so, a call site that frees a
// block off a page boundary knows that the block is not counted
// (page_placement.c).

#ifndef MPROF_RT_HEAP_PAGE_PLACEMENT_H
#define MPROF_RT_HEAP_PAGE_PLACEMENT_H

#include "sys/abi_words.h"
#include "sys/base.h"

// Decides once, at start, which families of functions place their counted
// blocks on page boundaries. page_placement.c explains the rules. free_entry:
// the runtime's entry of free, which sites call for each block if the malloc
// family does not place its counted blocks.
void mprof_place_init(void (*free_entry)(void *ptr));
extern MPROF_HIDDEN struct mprof_place {
  // Whether the malloc family may place its counted blocks on page boundaries,
  // by calling posix_memalign.
  bool c;
  // Whether operator new may place its counted blocks on page boundaries, by
  // calling posix_memalign.
  bool cxx;
  bool is_glibc; // malloc is glibc's malloc
  // Whether malloc_usable_size knows the blocks that free and operator delete
  // get.
  bool measures;
  void (*free_entry)(void *ptr);
} mprof_place; // written once by mprof_place_init
// Return whether the malloc family (c) or operator new (cxx) places its counted
// blocks on page boundaries at the current sampling rate.
static inline bool mprof_place_c(void) {
  // Acquire: a thread that counts a block off a page boundary also sees the
  // change of __mprof_free_off_page.
  return mprof_place.c &&
         __atomic_load_n(&__mprof_free_mask, __ATOMIC_ACQUIRE) != 0;
}
static inline bool mprof_place_cxx(void) {
  return mprof_place.cxx && __mprof_delete_mask != 0;
}
// Sets __mprof_free_mask (malloc family) and __mprof_delete_mask (operator new)
// to 0 if the family does not place its counted blocks on page boundaries at
// this sampling rate, and __mprof_free_off_page to the entry of free. Call
// sites use a mask other than 0 to test whether a freed block is on a page
// boundary. A mask that is 0 stays 0.
void mprof_place_set_masks(uint64_t rate);
// Allocates a block of at least `size` bytes on a page boundary, with the
// alignment `align`, a power of two. Returns NULL if there is no memory. Keeps
// errno. The allocator's functions free and resize the block.
void *mprof_place_block(size_t size, size_t align);
// Does the same for a block that the program resizes or is likely to resize. If
// the block is large, the memory behind it is free, so that the next resize
// need not move the block.
void *mprof_place_resized_block(size_t size);
// Frees a block that the runtime, not the program, wants to free. The free does
// not change how glibc gets memory for later blocks. p may be NULL.
void mprof_place_free(void *p);
// Returns whether glibc's malloc has allocated the block at p as a memory
// mapping of its own, and not in its heap. Other allocators: false.
static inline bool mprof_place_is_mapping(const void *p) {
  // Bit 1 of the size word before a block.
  return mprof_place.is_glibc && (((const size_t *)p)[-1] & 2) != 0;
}
// Returns whether all bytes of a block of mprof_place_block are known to be 0,
// before the program has got the block.
bool mprof_place_is_zeroed(const void *p, size_t size);

#endif // MPROF_RT_HEAP_PAGE_PLACEMENT_H
