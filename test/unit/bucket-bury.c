// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: after the unload of code in its stack, a bucket is no longer found,
// and the same stack gets a new bucket. All other buckets are still found, also
// those behind the removed slot and after the table has grown. An unload looks
// only at buckets that no earlier unload has marked.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "symbolize/module_unloads.h"

#include "sys/lock.h"
#include <unistd.h>

static struct mprof_lock modules = MPROF_LOCK_INIT(MPROF_RANK_UNLOADS);

// All these buckets have the same hash and differ only in their kind. So they
// lie one behind the other in the table.
static struct mprof_bucket *get(uint8_t kind, bool alloc) {
  const mprof_pc stack[] = {0x1000, 0x2000};
  const struct mprof_bucket_key key = {
      .stack = stack, .stack_len = 2, .type = MPROF_BUCKET_BLOCK, .kind = kind};
  mprof_guard_enter();
  struct mprof_bucket *b = mprof_bucket_get(&key, alloc);
  mprof_guard_leave();
  return b;
}

static unsigned looks; // number of buckets that `has_kind` has seen
static bool has_kind(const struct mprof_bucket *b, const void *kind) {
  looks++;
  return b->type == MPROF_BUCKET_BLOCK && b->kind == *(const uint8_t *)kind;
}

static uint64_t unload(uint32_t number, uint8_t kind) {
  mprof_guard_enter();
  mprof_lock_acquire(&modules);
  looks = 0;
  const uint64_t n = mprof_unload_mark(number, has_kind, &kind);
  mprof_lock_release(&modules);
  mprof_guard_leave();
  return n;
}

static void test_others_are_found(void) {
  struct mprof_bucket *b[4];
  for (uint8_t kind = 1; kind < 4; kind++)
    b[kind] = get(kind, true);
  CHECK_EQ(unload(1, 1), 1);
  CHECK_EQ(mprof_bucket_gone(b[1]), 1);
  CHECK(get(1, false) == NULL);
  CHECK(get(2, false) == b[2]);
  CHECK(get(3, false) == b[3]);
  struct mprof_bucket *again = get(1, true);
  CHECK(again != b[1] && mprof_bucket_gone(again) == 0);
  CHECK(get(1, false) == again);
  CHECK(get(3, false) == b[3]);
}

static void test_marked_are_skipped(void) {
  unload(2, 1);
  const unsigned before = looks;
  unload(3, 0); // no bucket has this kind
  CHECK_EQ(looks, before - 1);
  struct mprof_bucket *b = get(1, true);
  CHECK_EQ(unload(4, 0), 0);
  CHECK_EQ(looks, before);
  CHECK_EQ(unload(5, 1), 1);
  CHECK_EQ(mprof_bucket_gone(b), 5);
}

// Without the removal from the table, this would take many minutes.
static void test_many_times(void) {
  for (uint32_t i = 0; i < 300000; i++) {
    struct mprof_bucket *b = get(1, true);
    CHECK_EQ(unload(10 + i, 1), 1);
    CHECK_EQ(mprof_bucket_gone(b), 10 + i);
  }
}

static void test_growth(void) {
  struct mprof_bucket *two = get(2, false), *b = NULL;
  for (mprof_pc pc = 1; pc <= MPROF_BUCK_HASH_SIZE; pc++) {
    const mprof_pc stack[] = {pc << 20};
    b = mem_bucket(stack, 1, 16);
  }
  CHECK(get(1, false) == NULL);
  CHECK(get(2, false) == two);
  const mprof_pc stack[] = {(mprof_pc)MPROF_BUCK_HASH_SIZE << 20};
  CHECK(mem_bucket(stack, 1, 16) == b);
}

int main(void) {
  alarm(120); // ends test_many_times
  test_others_are_found();
  test_marked_are_skipped();
  test_many_times();
  test_growth();
  return 0;
}
