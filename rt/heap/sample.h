// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which allocations are counted. Sample points form a Poisson process
// over the allocated bytes. So a block of size bytes is counted with
// probability 1 - exp(-size / rate). sample.c explains the mathematics. (Go:
// nextSample, profilealloc)

#ifndef MPROF_RT_HEAP_SAMPLE_H
#define MPROF_RT_HEAP_SAMPLE_H

#include "sys/base.h"

// Largest rate, in bytes. (Go: nextSampleNoFP's 0x7000000)
#define MPROF_MAX_RATE 0x7000000u
// Smallest rate, in bytes, at which counted blocks are placed on page
// boundaries. At smaller rates so many blocks are counted that a page for each
// would cost too much memory. Then no block is placed, and all frees call the
// runtime.
#define MPROF_MIN_PLACED_RATE 65536u

// Returns the current rate: the mean number of bytes between samples.
uint64_t mprof_sample_rate(void);
// Sets the rate and the rate's free masks. Makes all threads draw a new
// distance to their next sample before their next allocation. Returns the
// previous rate.
uint64_t mprof_sample_set_rate(uint64_t rate);

// Decides whether to count an allocation of size bytes. The call site has
// already subtracted size from the countdown. If size is the product of two
// arguments, as in calloc, it is taken modulo 2^64. If the allocation is
// counted, stores the rate of the decision in *rate. If the countdown has run
// out, sets it to the next sample.
bool mprof_sample_hit(size_t size, uint64_t *rate);

// Returns a random number of bytes to the next sample. It is exponentially
// distributed with mean rate, and made from 26 random bits. (Go: fastexprand)
int64_t mprof_sample_next(uint64_t rate, uint32_t random26);

// Sets the first rate, at start.
void mprof_sample_init(uint64_t rate);

#endif // MPROF_RT_HEAP_SAMPLE_H
