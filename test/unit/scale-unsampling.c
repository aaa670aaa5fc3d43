// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a sample counts for 1 / (1 - exp(-size / rate)) blocks, and at rate 1
// for exactly one. Our own exponential function agrees with libm's.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -lm -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "snapshot/snapshot_heap.h"

#include <math.h>

static struct mprof_mem_estimate scale(uint64_t size, uint64_t rate,
                                       uint64_t allocs, uint64_t frees) {
  struct mprof_bucket b = {.size = size, .rate = rate};
  struct mprof_mem_sample s = {.bucket = &b, .allocs = allocs, .frees = frees};
  return mprof_mem_scale(&s);
}

int main(void) {
  struct mprof_mem_estimate e = scale(1024, 524288, 4, 1);
  CHECK_EQ(e.alloc_objects, 2050);
  CHECK_EQ(e.alloc_bytes, 2099200);
  CHECK_EQ(e.inuse_objects, 1537);
  CHECK_EQ(e.inuse_bytes, 1574400);
  e = scale(524288, 524288, 1, 0);
  CHECK_EQ(e.alloc_objects, 1);
  CHECK_EQ(e.alloc_bytes, 829411);
  e = scale(524288, 524288, 1, 1);
  CHECK_EQ(e.inuse_objects, 0);
  CHECK_EQ(e.inuse_bytes, 0);
  e = scale(24, 1, 10, 3);
  CHECK_EQ(e.alloc_bytes, 240);
  CHECK_EQ(e.inuse_bytes, 168);
  e = scale(0, 524288, 3, 0);
  CHECK_EQ(e.alloc_objects, 3);
  // With more frees than allocations published, the result is not negative.
  e = scale(8, 1, 1, 2);
  CHECK_EQ(e.inuse_objects, 0);
  const uint64_t many = 1000000000;
  for (double size = 1; size < 1e9; size *= 1.7) {
    double want = (double)many / (1 - exp(-floor(size) / 524288));
    double got = (double)scale((uint64_t)size, 524288, many, 0).alloc_objects;
    CHECK(fabs(got / want - 1) < 1e-9);
  }
  return 0;
}
