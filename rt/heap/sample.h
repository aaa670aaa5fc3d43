// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which allocations are counted: a Poisson process over allocated bytes, so
// that a block of size bytes is chosen with probability 1 - exp(-size / rate).
// (Go: nextSample, profilealloc)

#ifndef MPROF_RT_HEAP_SAMPLE_H
#define MPROF_RT_HEAP_SAMPLE_H

#include "sys/base.h"

// Largest mean. (Go: nextSampleNoFP's 0x7000000)
#define MPROF_MAX_RATE 0x7000000u
// Means below it count so many blocks that each would cost too much memory on
// a page of its own; then all frees ask the runtime instead.
#define MPROF_MIN_PLACED_RATE 65536u

// Mean bytes between samples, as of now.
uint64_t mprof_sample_rate(void);
// Sets it, and the masks that it needs, and makes all threads draw anew before
// their next allocation. Returns the one before.
uint64_t mprof_sample_set_rate(uint64_t rate);

// For an allocation of size bytes (of a product, modulo 2^64) whose site has
// taken them off the countdown:
// whether it is to be counted, and if so the rate it was chosen at. Sets the
// countdown for the next.
bool mprof_sample_hit(size_t size, uint64_t *rate);

// Bytes until the next sample: exponential with mean rate, from 26 random
// bits. (Go: fastexprand)
int64_t mprof_sample_next(uint64_t rate, uint32_t random26);

void mprof_sample_init(uint64_t rate);

#endif // MPROF_RT_HEAP_SAMPLE_H
