// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the public function that sets the sampling rate of the heap profile.
// (Go: MemProfileRate)

#include "heap/sample.h"
#include "process/process.h"
#include "sys/tls.h"

MPROF_PUBLIC size_t mprof_set_heap_rate(size_t bytes) {
  if (!mprof_init_ready() || !mprof_guard_enter())
    return 0;
  uint64_t before = mprof_sample_set_rate(bytes);
  mprof_guard_leave();
  return (size_t)before;
}
