// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of blocks that a sampled block represents. A block of `size` bytes
// is sampled with probability 1 - exp(-size / rate), so each sampled block
// represents 1 / (1 - exp(-size / rate)) blocks. (Go: scaleHeapSample)

#ifndef MPROF_RT_BUCKET_SCALE_H
#define MPROF_RT_BUCKET_SCALE_H

#include "sys/base.h"

// Returns the number of blocks that a sampled block of size bytes represents.
// rate: mean number of bytes between samples.
double mprof_scale_factor(uint64_t size, uint64_t rate);

#endif // MPROF_RT_BUCKET_SCALE_H
