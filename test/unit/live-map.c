// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a block is found at its address exactly once. This holds for
// addresses on a page boundary, without alignment, and high in the address
// space. If a block is put at an address that has a block already, the old
// entry is returned, also if it was put before the heap rate changed.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "heap/livemap.h"
#include "sys/abi_words.h"
#include "sys/tls.h"

static void put_take(uintptr_t addr) {
  uint32_t stale = 99;
  CHECK_EQ(mprof_live_take(addr), 0);
  CHECK(mprof_live_put(addr, 7, &stale));
  CHECK_EQ(stale, 0);
  CHECK(mprof_live_put(addr, 8, &stale));
  CHECK_EQ(stale, 7);
  CHECK_EQ(mprof_live_take(addr), 8);
  CHECK_EQ(mprof_live_take(addr), 0);
}

int main(void) {
  mprof_guard_enter();
  put_take(0x7f0000001000);
  put_take(0x7f0000001010);
  put_take(0x10);
  put_take(0x7ffffffffff0);
  put_take(0x7f0000001011);
  put_take(0x7f0000001018);
  put_take(0x7fff00000000000);
  // Neighbouring addresses do not disturb each other.
  uint32_t stale;
  for (uintptr_t a = 0x5550000; a < 0x5560000; a += 8)
    CHECK(mprof_live_put(a, (uint32_t)(a >> 3), &stale) && stale == 0);
  for (uintptr_t a = 0x5550000; a < 0x5560000; a += 8)
    CHECK_EQ(mprof_live_take(a), a >> 3);
  // The rate of the old block places blocks on page boundaries.
  const uintptr_t mask = __mprof_free_mask;
  __mprof_free_mask = MPROF_PAGE - 1;
  CHECK(mprof_live_put(0x7f0000003000, 7, &stale) && stale == 0);
  __mprof_free_mask = 0;
  CHECK(mprof_live_put(0x7f0000003000, 8, &stale));
  CHECK_EQ(stale, 7);
  CHECK_EQ(mprof_live_take(0x7f0000003000), 8);
  CHECK_EQ(mprof_live_take(0x7f0000003000), 0);
  __mprof_free_mask = mask;
  mprof_guard_leave();
  return 0;
}
