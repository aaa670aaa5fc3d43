// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a page is known from the moment when a block is counted that the
// runtime has placed at its start. Neighbouring pages, and pages with other
// counted blocks, stay unknown.
//
// RUN: %unit %s %rtlib -o %t && %t

#include "core.h"

#include "heap/known_pages.h"
#include "heap/livemap.h"
#include "sys/tls.h"

static void count(uintptr_t addr, bool is_placed) {
  uint32_t stale;
  CHECK(mprof_guard_enter());
  CHECK(mprof_live_put(addr, is_placed, 7, &stale));
  mprof_guard_leave();
}

static bool is_known(uintptr_t addr) {
  return mprof_page_is_known((const void *)addr);
}

int main(void) {
  const uintptr_t placed = 0x7f0012345000, other = 0x7f0044444000;
  const uintptr_t high = (uintptr_t)0xabcd << 48 | 0x55555000;
  CHECK(!is_known(placed) && !is_known(other) && !is_known(high));
  count(placed, true);
  CHECK(is_known(placed));
  CHECK(!is_known(placed + 4096) && !is_known(placed - 4096));
  count(other, false);
  CHECK(!is_known(other));
  count(high, true);
  CHECK(is_known(high));
  return 0;
}
