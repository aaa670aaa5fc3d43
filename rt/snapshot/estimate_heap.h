// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates of all blocks, computed from the sampled blocks and the factors of
// bucket/scale.h.

#ifndef MPROF_RT_SNAPSHOT_ESTIMATE_HEAP_H
#define MPROF_RT_SNAPSHOT_ESTIMATE_HEAP_H

#include "snapshot/snapshot_heap.h"
#include "sys/mul_div.h"

// Estimated numbers of a sample or of a sum of samples.
struct mprof_mem_estimate {
  int64_t alloc_objects, alloc_bytes, inuse_objects, inuse_bytes;
};
// Returns the estimate of sample s of a snapshot.
struct mprof_mem_estimate mprof_mem_scale(const struct mprof_mem_sample *s);

// The variances of the estimated bytes, in bytes squared. 0: the bytes are
// counted.
struct mprof_mem_variance {
  mprof_u128 alloc_bytes, inuse_bytes;
};
// Adds the variances of the estimate of sample s. Samples are independent, so
// the variance of a sum of samples is the sum of their variances.
void mprof_mem_add_variance(struct mprof_mem_variance *sum,
                            const struct mprof_mem_sample *s);

// Estimated numbers of the heapx profile (heapx.h).
struct mprof_heapx_estimate {
  int64_t temporary_objects, temporary_bytes;
  int64_t in_place, moved, copied_bytes;
  int64_t alloc_slack_bytes, inuse_slack_bytes;
};
// Returns the estimated heapx values for sample s. x: the heapx counters of the
// bucket of s.
struct mprof_heapx_estimate
mprof_heapx_scale(const struct mprof_mem_sample *s,
                  const struct mprof_heapx_sample *x);

// Fills in the estimated numbers of objects of all samples of the snapshot.
//
// A sample of a large block represents few blocks, for example 1.6. If each of
// 100 samples with this value were rounded to 2 by itself, their sum would be
// too large by 40. Therefore the samples of a stack are rounded one after
// another: the remainder of a sample is added to the next sample of the stack.
// The sum over the samples of a stack is off by less than one object. It is
// unbiased over many stacks, because a hash of the stack decides whether the
// sum is rounded up or down. No sample has more objects in use than allocated.
// Returns 0 or -ENOMEM.
int mprof_estimate_objects(struct mprof_mem_snapshot *s);

#endif // MPROF_RT_SNAPSHOT_ESTIMATE_HEAP_H
