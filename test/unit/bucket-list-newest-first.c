// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the list of the buckets of one type begins with the newest bucket, as
// in Go.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"

int main(void) {
  struct mprof_bucket *a = mem_bucket((mprof_pc[]){0x1000}, 1, 8);
  struct mprof_bucket *b = mem_bucket((mprof_pc[]){0x2000}, 1, 8);
  mem_bucket((mprof_pc[]){0x1000}, 1, 8); // exists already
  CHECK(mprof_bucket_first(MPROF_BUCKET_MEM) == b);
  CHECK(b->allnext == a);
  CHECK(a->allnext == NULL);
  CHECK(mprof_bucket_first(MPROF_BUCKET_MUTEX) == NULL);
  return 0;
}
