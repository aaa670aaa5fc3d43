// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which allocations are counted.
//
// Sample points form a Poisson process over the allocated bytes. So a block of
// `size` bytes is counted with probability 1 - exp(-size / rate). sampling.c
// explains the mathematics. (Go: nextSample, profilealloc)

#ifndef MPROF_RT_HEAP_SAMPLING_H
#define MPROF_RT_HEAP_SAMPLING_H

#include "sys/base.h"

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

#endif // MPROF_RT_HEAP_SAMPLING_H
