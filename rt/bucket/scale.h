// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of blocks that a sampled block represents. A block of `size` bytes
// is sampled with probability 1 - exp(-size / rate), so each sampled block
// represents 1 / (1 - exp(-size / rate)) blocks. (Go: scaleHeapSample)

#ifndef MPROF_RT_BUCKET_SCALE_H
#define MPROF_RT_BUCKET_SCALE_H

#include "sys/base.h"

// The unit of the factors: they are multiples of 1 / MPROF_SCALE_ONE.
#define MPROF_SCALE_ONE (UINT64_C(1) << 36)

// Returns the number of blocks that a sampled block of size bytes represents,
// times MPROF_SCALE_ONE. rate: mean number of bytes between samples.
uint64_t mprof_scale_factor(uint64_t size, uint64_t rate);

// Returns n * unit * factor / MPROF_SCALE_ONE, rounded down, at most INT64_MAX.
int64_t mprof_scale_up(uint64_t n, uint64_t unit, uint64_t factor);

// Returns the probability that a block of size bytes is not sampled, times
// 2^63.
uint64_t mprof_scale_missed(uint64_t size, uint64_t rate);

#endif // MPROF_RT_BUCKET_SCALE_H
