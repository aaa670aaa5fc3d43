// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a sample counts for 1 / (1 - exp(-size / rate)) blocks, and at rate 1
// for exactly one block. The scaled bytes equal those that Go computes. The
// scaled number of objects differs from the exact number by less than one.
// MProf's own exponential function agrees with libm's.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -lm -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "snapshot/snapshot.h"
#include "sys/scale.h"

#include <math.h>

static struct mprof_mem_estimate scale(uint64_t size, uint64_t rate,
                                       uint64_t allocs, uint64_t frees) {
  struct mprof_bucket b = {.size = size, .rate = (uint32_t)rate};
  struct mprof_mem_sample s = {.bucket = &b, .allocs = allocs, .frees = frees};
  struct mprof_mem_snapshot all = {.samples = &s, .len = 1};
  CHECK_EQ(mprof_estimate_objects(&all), 0);
  return mprof_mem_scale(&s);
}

static bool is_rounded(int64_t objects, double exact) {
  return fabs((double)objects - exact) < 1;
}

int main(void) {
  struct mprof_mem_estimate e = scale(1024, 524288, 4, 1);
  CHECK(is_rounded(e.alloc_objects, 2050.002));
  CHECK_EQ(e.alloc_bytes, 2099200);
  CHECK(is_rounded(e.inuse_objects, 1537.502));
  CHECK_EQ(e.inuse_bytes, 1574400);
  e = scale(524288, 524288, 1, 0);
  CHECK(is_rounded(e.alloc_objects, 1.582));
  CHECK_EQ(e.alloc_bytes, 829411);
  e = scale(524288, 524288, 1, 1);
  CHECK_EQ(e.inuse_objects, 0);
  CHECK_EQ(e.inuse_bytes, 0);
  e = scale(24, 1, 10, 3);
  CHECK_EQ(e.alloc_objects, 10);
  CHECK_EQ(e.inuse_objects, 7);
  CHECK_EQ(e.alloc_bytes, 240);
  CHECK_EQ(e.inuse_bytes, 168);
  e = scale(0, 524288, 3, 0);
  CHECK_EQ(e.alloc_objects, 3);
  // With more frees than allocations published, the result is not negative.
  e = scale(8, 1, 1, 2);
  CHECK_EQ(e.inuse_objects, 0);
  CHECK_EQ(e.inuse_bytes, 0);
  const uint64_t many = 1000000000;
  for (double size = 1; size < 1e9; size *= 1.7) {
    double want = 1 / (1 - exp(-floor(size) / 524288));
    double got = (double)mprof_scale_factor((uint64_t)size, 524288) /
                 (double)MPROF_SCALE_ONE;
    CHECK(fabs(got / want - 1) < 1e-9);
    e = scale((uint64_t)size, 524288, many, 0);
    CHECK(fabs((double)e.alloc_objects / want / (double)many - 1) < 1e-9);
  }
  return 0;
}
