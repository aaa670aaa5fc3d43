// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for tests of the runtime's core: no files are written at exit, stacks
// are made up of numbers, and the test starts and empties the runtime itself.

#ifndef MPROF_TEST_UNIT_CORE_H
#define MPROF_TEST_UNIT_CORE_H

#include "bucket/bucket.h"
#include "sys/abi_words.h"
#include "sys/tls.h"

#include "check.h"

#ifndef TEST_OPTIONS
#define TEST_OPTIONS ""
#endif

__attribute__((visibility("default"), used)) const char *
__mprof_default_options(void) {
  return "report=0:profile=0:" TEST_OPTIONS;
}

// Instrumented objects refer to the version of the runtime, which links the
// runtime's constructor into the program. So does each test.
__attribute__((used)) static const char *const version =
    &MPROF_ABI_NAME(MPROF_ABI_VERSION);

// Counts down as instrumented code does before it allocates. Returns whether it
// calls the runtime's entry.
static inline bool site_asks(size_t size) {
  uint64_t left = (uint64_t)__mprof_heap_countdown;
  __mprof_heap_countdown = (int64_t)(left - size);
  return left <= size;
}

static inline struct mprof_bucket *mem_bucket(const mprof_pc *stack, size_t len,
                                              size_t size) {
  struct mprof_bucket_key key = {.stack = stack,
                                 .stack_len = (uint32_t)len,
                                 .type = MPROF_BUCKET_MEM,
                                 .size = size,
                                 .rate = 1};
  mprof_guard_enter();
  struct mprof_bucket *b = mprof_bucket_get(&key, true);
  mprof_guard_leave();
  return b;
}

#endif // MPROF_TEST_UNIT_CORE_H
