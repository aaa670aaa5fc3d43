// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with the option persist, MProf's tables take no more memory than
// max_memory_mb, and then the buffers of a trace still get theirs, up to twice
// trace_max_mb.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o test && ./test

#define TEST_OPTIONS "max_memory_mb=4:trace_max_mb=4:persist=file"
#include "core.h"

#include "process/process.h"
#include "sys/persistent.h"
#include "sys/tls.h"

enum { MIB = 1 << 20, PIECE = 1000, BUFFER = 64 << 10 };

int main(void) {
  CHECK(mprof_process_ready());
  CHECK(mprof_guard_enter());
  while (mprof_persistent_try_alloc(PIECE))
    ;
  CHECK(mprof_persist_head != NULL);
  CHECK(mprof_persistent_used() <= 4 * MIB);
  CHECK(mprof_persistent_used() > 4 * MIB - 2 * PIECE);
  for (int i = 0; i < 2 * 4 * MIB / BUFFER; i++)
    CHECK(mprof_persistent_trace_alloc(BUFFER) != NULL);
  CHECK(mprof_persistent_trace_alloc(BUFFER) == NULL);
  CHECK(mprof_persistent_try_alloc(PIECE) == NULL);
  return 0;
}
