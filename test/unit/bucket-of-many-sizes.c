// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread whose events have one stack and many sizes gets the bucket
// of each size, and a larger cache of buckets. A thread with few sizes keeps
// the small cache.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "sys/tls.h"
#include "thread/threads.h"

enum { SIZES = 1000, TURNS = 3 };

static __attribute__((noinline)) struct mprof_bucket *at(struct mprof_thread *t,
                                                         size_t size) {
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_MEM, .size = size};
  struct mprof_bucket *b =
      mprof_bucket_at(t, &key, 0, (uintptr_t)__builtin_frame_address(0));
  CHECK(b != NULL);
  CHECK_EQ(b->size, size);
  return b;
}

// Looks up `sizes` sizes in turn. Each turn must find the same buckets.
static void look_up(struct mprof_thread *t, size_t sizes) {
  static struct mprof_bucket *first[SIZES];
  for (size_t turn = 0; turn < TURNS; turn++)
    for (size_t i = 0; i < sizes; i++) {
      struct mprof_bucket *b = at(t, 16 * (i + 1));
      if (turn == 0)
        first[i] = b;
      CHECK_EQ(b, first[i]);
    }
}

int main(void) {
  mprof_guard_enter();
  struct mprof_thread *t = mprof_thread_self(true);
  CHECK(t != NULL);
  look_up(t, 4);
  CHECK_EQ(t->sized_mask + 1, MPROF_FEW_SIZED);
  look_up(t, SIZES);
  CHECK_EQ(t->sized_mask + 1, MPROF_SIZED);
  mprof_guard_leave();
  return 0;
}
