// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the time of each block in use is found once, however many blocks
// there are. A custom block may have the address of a block of the heap. A
// second block at an address replaces the first. A forked child has no blocks.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "heap/observers.h"
#include "sys/tls.h"

enum { BLOCKS = 300000 };

static const void *at(uintptr_t addr) { return (const void *)addr; }

static const void *block(uintptr_t i) { return at(0x7f0000000000 + 16 * i); }

int main(void) {
  mprof_guard_enter();
  CHECK_EQ(mprof_births_take(at(0x1000), false), 0);
  mprof_births_put(at(0x1000), false, 5);
  mprof_births_put(at(0x1000), true, 6);
  mprof_births_put(at(0x1000), false, 7);
  CHECK_EQ(mprof_births_take(at(0x1000), false), 7);
  CHECK_EQ(mprof_births_take(at(0x1000), false), 0);
  CHECK_EQ(mprof_births_take(at(0x1000), true), 6);
  for (uintptr_t i = 0; i < BLOCKS; i++)
    mprof_births_put(block(i), false, i + 1);
  for (uintptr_t i = 0; i < BLOCKS; i += 2)
    CHECK_EQ(mprof_births_take(block(i), false), i + 1);
  for (uintptr_t i = 0; i < BLOCKS; i++)
    CHECK_EQ(mprof_births_take(block(i), false), i % 2 ? i + 1 : 0);
  mprof_births_put(at(0x1000), false, 5);
  mprof_births_reset();
  CHECK_EQ(mprof_births_take(at(0x1000), false), 0);
  mprof_guard_leave();
  return 0;
}
