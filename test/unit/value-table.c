// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a hash table from words to buckets equals a plain array after any
// insertions and removals. The words are small, large or far apart, and the
// table grows several times. Repeating this with the same number of words uses
// no more memory.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "max_memory_mb=16"
#include "core.h"

#include "bucket/bucket.h"
#include "process/process.h"
#include "sys/persistent.h"
#include "sys/tls.h"

enum { WORDS = 6000, STEPS = 200000 };

static uint32_t model[WORDS]; // bucket of each word, or 0

static uintptr_t word_of(uint32_t i) {
  switch (i % 3) {
  case 0:
    return i / 3; // like descriptors
  case 1:
    return ~(uintptr_t)(i / 3);
  default:
    return (uintptr_t)i << 20; // like blocks
  }
}

static uint64_t random_state = 1;
static uint32_t draw(uint32_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % n;
}

static void check_all(const struct mprof_bucket_map *t) {
  size_t count = 0;
  for (uint32_t i = 0; i < WORDS; i++) {
    count += model[i] != 0;
    CHECK_EQ(mprof_bucket_map_find(t, word_of(i)), model[i]);
  }
  CHECK_EQ(mprof_bucket_map_count(t), count);
}

static void step(struct mprof_bucket_map *t, uint32_t words) {
  uint32_t i = draw(words), before;
  if (draw(2) == 0) {
    CHECK_EQ(mprof_bucket_map_take(t, word_of(i)), model[i]);
    model[i] = 0;
  } else {
    uint32_t bucket = 1 + draw(1000);
    CHECK(mprof_bucket_map_put(t, word_of(i), bucket, &before));
    CHECK_EQ(before, model[i]);
    model[i] = bucket;
  }
}

int main(void) {
  struct mprof_bucket_map t = {0};
  CHECK(mprof_process_ready());
  mprof_guard_enter();
  CHECK_EQ(mprof_bucket_map_find(&t, 0), 0);
  CHECK_EQ(mprof_bucket_map_take(&t, 0), 0);
  for (int i = 0; i < STEPS; i++) {
    step(&t, WORDS);
    if (i % (STEPS / 50) == 0)
      check_all(&t);
  }
  check_all(&t);
  const size_t used = mprof_persistent_used();
  for (int i = 0; i < STEPS; i++)
    step(&t, WORDS);
  check_all(&t);
  CHECK_EQ(mprof_persistent_used(), used);

  // Without memory the existing entries stay.
  mprof_bucket_map_reset(&t);
  memset(model, 0, sizeof(model));
  uint32_t before, n = 0;
  while (mprof_persistent_try_alloc(1 << 20))
    ;
  while (mprof_persistent_try_alloc(64))
    ;
  while (n < WORDS && mprof_bucket_map_put(&t, word_of(n), n + 1, &before))
    n++;
  CHECK_EQ(n, 0);
  CHECK_EQ(mprof_bucket_map_find(&t, word_of(0)), 0);
  mprof_guard_leave();
  return 0;
}
