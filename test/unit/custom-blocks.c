// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each block of a custom allocator is found exactly once, and heap
// blocks at the same address stay. If an address is used again, the old blocks
// there are returned as stale, unless the new block comes from an outer
// allocator. Freeing an arena removes only the blocks of this arena. Repeating
// all this uses no more memory.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "heap/livemap.h"
#include "process/process.h"
#include "sys/persistent.h"
#include "sys/tls.h"

static uint32_t seen[20], seen_count;

static void note(uint32_t cell) { seen[seen_count++ % 20] = cell; }

static uintptr_t gone_at;

static void note_gone(uintptr_t addr, uint32_t cell) {
  gone_at = addr;
  note(cell);
}

static bool put(uintptr_t addr, uintptr_t arena, uint32_t cell, bool outer) {
  struct mprof_custom_block b = {
      .addr = addr, .arena = arena, .cell = cell, .is_outer = outer};
  return mprof_custom_put(&b, note);
}

static void one_address(uintptr_t addr) {
  uint32_t stale;
  seen_count = 0;
  CHECK_EQ(mprof_custom_take(addr), 0);
  // The heap's block stays.
  CHECK(mprof_live_put(addr, 1, &stale));
  CHECK(put(addr, 0, 2, false));
  CHECK_EQ(mprof_custom_take(addr), 2);
  CHECK_EQ(mprof_custom_take(addr), 0);
  CHECK(put(addr, 50, 3, false));
  CHECK_EQ(mprof_custom_take(addr), 3);
  CHECK_EQ(mprof_live_take(addr), 1);
  CHECK_EQ(mprof_live_take(addr), 0);
  CHECK_EQ(seen_count, 0);

  // The address is used again: first by a single block, then by arenas.
  CHECK(put(addr, 0, 2, false) && put(addr, 0, 3, false));
  CHECK(put(addr, 50, 4, false) && put(addr, 51, 5, false));
  CHECK_EQ(seen_count, 3);
  CHECK(seen[0] == 2 && seen[1] == 3 && seen[2] == 4);
  mprof_custom_empty(50, note_gone);
  CHECK_EQ(seen_count, 3);
  CHECK_EQ(mprof_custom_take(addr), 5);

  // Blocks of outer allocators are found before the block of the inner one.
  CHECK(put(addr, 0, 2, false) && put(addr, 50, 3, true) &&
        put(addr, 0, 4, true));
  CHECK_EQ(seen_count, 3);
  CHECK_EQ(mprof_custom_take(addr), 4);
  CHECK(put(addr, 0, 5, true));
  mprof_custom_empty(50, note_gone);
  CHECK(seen_count == 4 && seen[3] == 3 && gone_at == addr);
  CHECK_EQ(mprof_custom_take(addr), 5);
  CHECK_EQ(mprof_custom_take(addr), 2);
  CHECK_EQ(mprof_custom_take(addr), 0);

  // A new block that is not outer shows that all blocks at the address have
  // been freed. So does an outer block beyond the maximum nesting.
  CHECK(put(addr, 0, 2, false) && put(addr, 0, 3, true));
  seen_count = 0;
  CHECK(put(addr, 0, 4, false));
  CHECK(seen_count == 2 && seen[0] == 3 && seen[1] == 2);
  for (uint32_t i = 1; i <= MPROF_CUSTOM_LEVELS; i++)
    CHECK(put(addr, 0, 4 + i, true));
  CHECK_EQ(seen_count, 2 + MPROF_CUSTOM_LEVELS);
  CHECK_EQ(mprof_custom_take(addr), 4 + MPROF_CUSTOM_LEVELS);
  CHECK_EQ(mprof_custom_take(addr), 0);
}

static void many_arenas(void) {
  enum { ARENAS = 5000, EACH = 3 };
  for (uintptr_t a = 1; a <= ARENAS; a++)
    for (uintptr_t i = 0; i < EACH; i++)
      CHECK(put(0x600000 + (a * EACH + i) * 8, a << 12, (uint32_t)a, false));
  for (uintptr_t a = 1; a <= ARENAS; a += 2) {
    seen_count = 0;
    CHECK_EQ(mprof_custom_take(0x600000 + a * EACH * 8), a);
    mprof_custom_empty(a << 12, note_gone);
    CHECK(seen_count == EACH - 1 && seen[0] == a && seen[EACH - 2] == a);
    mprof_custom_empty(a << 12, note_gone);
    CHECK_EQ(seen_count, EACH - 1);
  }
  for (uintptr_t a = 2; a <= ARENAS; a += 2)
    for (uintptr_t i = 0; i < EACH; i++)
      CHECK_EQ(mprof_custom_take(0x600000 + (a * EACH + i) * 8), a);
}

int main(void) {
  CHECK(mprof_process_ready());
  mprof_guard_enter();
  for (int round = 0; round < 2; round++) {
    one_address(0x7f0000001000);
    one_address(0x10);
    one_address(0x7f0000001018);
    one_address(0x7fff00000000000);
    many_arenas();
  }
  size_t used = mprof_persistent_used();
  for (int round = 0; round < 20; round++) {
    one_address(0x7f0000001000);
    one_address(0x7f0000001018);
    many_arenas();
  }
  CHECK_EQ(mprof_persistent_used(), used);
  mprof_guard_leave();
  return 0;
}
