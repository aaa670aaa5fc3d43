// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the search for stuck threads finds a thread's stack by the data in
// its thread control block, whatever else is in the mapping. If this data is
// impossible, the search finds no stack.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "stuck-memory.h"

#include "stuck/stuck_memory.h"

enum { PAGES = 64, BLOCK_BYTES = 2304, SAID_AT = 1680 };

static struct mprof_area area;

static bool find(uintptr_t block, uintptr_t start, uintptr_t size,
                 struct mprof_libc_stack *s) {
  words(block + SAID_AT)[0] = start;
  words(block + SAID_AT)[1] = size;
  return mprof_memory_libc_stack(&area, block, s);
}

int main(void) {
  char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED);
  const uintptr_t start = (uintptr_t)p, middle = start + PAGES / 2 * PAGE;
  const uintptr_t block = middle - BLOCK_BYTES;
  struct mprof_libc_stack s = {.start = 1};
  area = (struct mprof_area){
      .start = start, .limit = start + PAGES * PAGE, .is_unnamed = true};

  CHECK(find(block, start + 8 * PAGE, middle - start - 8 * PAGE, &s));
  CHECK_EQ(s.start, start + 8 * PAGE);
  CHECK_EQ(s.block, block);
  CHECK_EQ(s.limit, middle);
  // With a guard page, which is not part of the area.
  CHECK(find(block, start - PAGE, middle - start + PAGE, &s));
  CHECK_EQ(s.start, start);

  s.start = 1;
  CHECK(!find(block, 0, middle, &s));
  CHECK(!find(block, start, middle - start + 8, &s));
  CHECK(!find(block, start, middle - start - PAGE, &s));
  CHECK(!find(block, start, PAGES * PAGE, &s));
  CHECK(!find(block, middle, 0, &s));
  CHECK(!find(block + 4, start, middle - start, &s));
  CHECK(!find(area.limit - BLOCK_BYTES, start, (PAGES + 1) * PAGE, &s));
  CHECK(!mprof_memory_libc_stack(&area, area.limit - WORD, &s));
  CHECK(!mprof_memory_libc_stack(&area, start - PAGE, &s));
  CHECK(!mprof_memory_libc_stack(&area, area.limit + PAGE, &s));
  CHECK_EQ(s.start, 1);

  CHECK(find(block, start, middle - start, &s));
  area.is_shared = true;
  CHECK(!mprof_memory_libc_stack(&area, block, &s));
  return 0;
}
