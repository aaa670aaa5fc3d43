// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace has the string of each lock, also if the table of locks is
// about to grow when the strings are written, and a slot then moves before
// another one that was written already.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app 1.23 x.trace > address
// RUN: grep -qaFf address x.trace
// RUN: %trace_check -q x.trace

#include "traces.h"

#include "trace/trace_records.h"
#include "trace/write_trace.h"

enum { LOCKS = 256, SLOTS = 2 * LOCKS };

// As in pctable.c, in a table of twice the slots.
static size_t slot_of(uint64_t address) {
  return (size_t)(address * 0x9e3779b97f4a7c15u >> 20) & (2 * SLOTS - 1);
}

// Returns the first address from `from` on whose slot is this one.
static uint64_t with_slot(size_t slot, uint64_t from) {
  while (slot_of(from) != slot)
    from += 8;
  return from;
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  trace_open(argv[1], argv[2]);
  trace_begin_row(0, 1000);
  RECORD(BEGIN, 0, 1, 100, MPROF_TRACE_FROM_UNKNOWN, 0);
  // Both belong into slot 0, so the second one is in slot 1 until the table
  // grows.
  const uint64_t first = with_slot(SLOTS, 0x10000);
  const uint64_t second = with_slot(0, 0x10000);
  RECORD(LOCK, 1, first);
  RECORD(LOCK, 1, second);
  for (size_t i = 2; i < LOCKS; i++)
    RECORD(LOCK, 1, with_slot(i, 0x10000));
  trace_end_row();
  printf("0x%llx\n", (unsigned long long)second);
  trace_close();
  return 0;
}
