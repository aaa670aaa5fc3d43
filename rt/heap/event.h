// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the allocations and frees of the heap. An entry of the runtime, such
// as __mprof_malloc, counts a block in these steps:
//
//   MPROF_SAMPLE_ALLOC   decides whether to count the block       (sampling.c)
//   mprof_place_block    allocates it on a page boundary, or the entry calls
//                        the program's own allocator     (page_placement.c)
//   mprof_event_alloc    finds the bucket, puts the block into the live map,
//                        and counts                   (event.c, livemap.c)
//
// A free takes the block from the live map: mprof_event_free. (Go:
// mProf_Malloc, mProf_Free)
//
// The callers need not set the recursion guard. If the guard is already set,
// the caller is a signal handler that has interrupted the runtime. An
// allocation in this handler is counted as lost.

#ifndef MPROF_RT_HEAP_EVENT_H
#define MPROF_RT_HEAP_EVENT_H

#include "sys/abi_words.h"
#include "sys/base.h"

// --- which allocations are counted (sampling.c) ---
//
// Decides which allocations are counted.
//
// Sample points form a Poisson process over the allocated bytes. So a block of
// `size` bytes is counted with probability 1 - exp(-size / rate). sampling.c
// explains the mathematics. (Go: nextSample, profilealloc)

// Largest sampling rate in bytes. (Go: 0x7000000 in nextSampleNoFP)
#define MPROF_MAX_RATE 0x7000000u
// Smallest sampling rate in bytes at which counted blocks are placed on page
// boundaries. At a smaller rate, so many blocks are counted that one page for
// each would cost too much memory. So no block is placed, and all frees call
// the runtime.
#define MPROF_MIN_PLACED_RATE 65536u

// Returns the current sampling rate, which is the mean number of bytes between
// samples.
uint64_t mprof_sample_rate(void);
// Sets the sampling rate, and adapts to this rate the address masks by which
// call sites of free and delete recognize blocks that may be counted
// (page_placement.c). Makes each thread draw a new distance to its next sample
// at its next allocation. Returns the previous rate.
uint64_t mprof_sample_set_rate(uint64_t rate);

// Decides whether to count an allocation of `size` bytes. The call site has
// already subtracted `size` from the countdown. If the size of the block is a
// product, as in calloc, `size` is this product modulo 2^64. If the allocation
// is counted, stores the sampling rate in *rate. If the countdown has run out,
// sets the countdown to the distance to the next sample.
bool mprof_sample_hit(size_t size, uint64_t *rate);

// Returns a random number of bytes to the next sample. The number is
// exponentially distributed with mean `rate`. random26 has the 26 random bits
// from which it is made. (Go: fastexprand)
int64_t mprof_sample_next(uint64_t rate, uint32_t random26);

// Sets the initial sampling rate. Call this at start.
void mprof_sample_init(uint64_t rate);

// --- the decision of an entry ---

// The family of functions that allocated a block. C: malloc and related
// functions. CXX: operator new. OTHER: any other function.
enum mprof_family { MPROF_FAMILY_OTHER, MPROF_FAMILY_C, MPROF_FAMILY_CXX };

// The family of the blocks that a file of entries counts. A file with entries
// of malloc or operator new defines this macro before it includes this header.
#ifndef MPROF_ALLOCATOR_FAMILY
#define MPROF_ALLOCATOR_FAMILY MPROF_FAMILY_OTHER
#endif

// An allocation that is to be counted.
struct mprof_alloc {
  size_t size;
  uint64_t rate;   // heap_rate at which the sample was chosen
  uintptr_t frame; // frame address of the runtime's entry
  enum mprof_family family;
  // True: count the block only if it is on a page boundary, because call sites
  // free all other blocks without a call of the runtime.
  bool must_place;
};

// Decides whether to count an allocation of `bytes` bytes. If so, fills the
// struct mprof_alloc at a, and the expression is true. may_place: whether the
// family of functions, malloc's or operator new's, places counted blocks on
// page boundaries. Use this macro in the entry itself, because the recorded
// stack starts at the return address of the function that uses the macro.
#define MPROF_SAMPLE_ALLOC(a, bytes, may_place)                                \
  ((a)->size = (bytes), (a)->frame = (uintptr_t)__builtin_frame_address(0),    \
   mprof_sample_hit((bytes), &(a)->rate) &&                                    \
       ((a)->family = MPROF_ALLOCATOR_FAMILY, (a)->must_place = (may_place),   \
        true))

// --- where counted blocks lie (page_placement.c) ---
//
// Places counted blocks on page boundaries.
//
// The malloc family and the family of operator new may place their counted
// blocks on page boundaries. If a family does so, a call site that frees a
// block off a page boundary knows that the block is not counted
// (page_placement.c).

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

// --- events ---

// Counts the block at ptr, which the allocator has returned for the allocation
// a. Returns ptr. Does nothing if ptr is NULL, because the allocation has
// failed. If the block cannot be counted, counts the event as lost.
void *mprof_event_alloc(const struct mprof_alloc *a, void *ptr);

// mprof_event_release removes the block at ptr from the live map and returns
// facts about it. Call this function before the allocator can give the block's
// address to another thread. Then pass the result to mprof_event_freed,
// mprof_event_resized or mprof_event_kept. If the block is not counted, `cell`
// is 0.
struct mprof_released {
  uint32_t cell; // handle of the cell that has counted the block (bucket.h)
  // Only for observers, the heapx counters: the results of mprof_heapx_is_last
  // and mprof_heapx_slack for the block (heapx.h), and of mprof_births_take. 0
  // if the option heapx is off. A function can return the struct in registers,
  // because it has 16 bytes.
  uint32_t is_last : 1, slack : 31;
  uint64_t birth;
};
struct mprof_released mprof_event_release(void *ptr);
// Counts the free of a block that mprof_event_release has removed. The free is
// counted in index C+2 of the cycle machine (counts.h), where C is the number
// of the current cycle. Only the frees of a garbage collector are counted in
// another index. (Go: mProf_Free)
void mprof_event_freed(struct mprof_released r);
// Counts the free of the block at ptr, if the block is counted. Call this
// before the block is freed.
void mprof_event_free(void *ptr);
// Counts the free of all blocks, because the later frees will not be seen. Call
// while no block is allocated or freed.
void mprof_event_free_all(void);
// Counts that the block at ptr was resized to `size` bytes and is now at
// moved_to. moved_to is NULL if the reallocation has freed the block. r is the
// result of mprof_event_release. countdown is the value of the thread's
// sampling countdown before the call site subtracted `size`.
void mprof_event_resized(struct mprof_released r, const void *ptr,
                         const void *moved_to, size_t size, int64_t countdown);
// Inserts a block into the live map again after mprof_event_release, because
// the reallocation of the block has failed. If this is not possible, counts the
// free of the block, because its later free would not be recognized.
void mprof_event_kept(struct mprof_released r, void *ptr);

// Events of blocks of the program's own allocators. A block of such an
// allocator and a heap block at the same address are counted separately. ptr
// must not be NULL.
struct mprof_alloc_owner {
  uintptr_t arena; // address that identifies the block's arena; 0: none
  // True: the new block contains the blocks that are already counted at ptr,
  // and these blocks stay counted.
  bool is_outer;
};
void mprof_event_custom_alloc(const struct mprof_alloc *a, void *ptr,
                              const struct mprof_alloc_owner *owner);
struct mprof_released mprof_event_custom_release(void *ptr);
void mprof_event_custom_kept(struct mprof_released r, void *ptr);
// Counts the frees of all blocks of an arena. Call this when the program resets
// the arena.
void mprof_event_arena_reset(const void *arena);

#endif // MPROF_RT_HEAP_EVENT_H
