// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the public functions that set the sampling rates of the heap, block
// and mutex profiles. (Go: MemProfileRate, SetBlockProfileRate,
// SetMutexProfileFraction)

#include "heap/sample.h"
#include "lock_wait/contention.h"
#include "process/process.h"
#include "sys/tls.h"

#include <limits.h>

MPROF_PUBLIC size_t mprof_set_heap_rate(size_t bytes) {
  if (!mprof_init_ready() || !mprof_guard_enter())
    return 0;
  uint64_t before = mprof_sample_set_rate(bytes);
  mprof_guard_leave();
  return (size_t)before;
}

MPROF_PUBLIC int64_t mprof_set_block_rate(int64_t ns) {
  if (!mprof_init_ready() || !mprof_guard_enter())
    return 0;
  uint64_t before = mprof_contention_set_block_rate(ns < 0 ? 0 : (uint64_t)ns);
  mprof_guard_leave();
  return (int64_t)before;
}

MPROF_PUBLIC int mprof_set_mutex_fraction(int n) {
  if (!mprof_init_ready() || !mprof_guard_enter())
    return 0;
  uint64_t before = mprof_contention_set_mutex_fraction(n);
  mprof_guard_leave();
  return before > INT_MAX ? INT_MAX : (int)before;
}
