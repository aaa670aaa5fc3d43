// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a malloc heap has an impossible chunk size, the search for stuck
// threads walks the chunks of the heap only once, and does not divide the heap
// into blocks. The whole heap counts as reachable and is searched for
// addresses.
//
// UNSUPPORTED: unit-address, unit-memory, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "stuck-memory.h"

enum { CHUNK = 64, CHUNKS = 2000, HURT = 1200 };

static const uintptr_t wrong[] = {
    0,
    16,                           // smaller than any chunk
    CHUNK + 8,                    // not a multiple of the alignment
    CHUNK *CHUNKS,                // beyond the heap
    (uintptr_t)-CHUNK,            // so large that the walk would go back
    CHUNK | 2,                    // a chunk with a mapping of its own
    CHUNK | 4,                    // a chunk of another arena
    UINT64_C(0x4141414141414141), // text
};

int main(void) {
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    struct heap h = {.is_before_in_use = true};
    static uintptr_t v[CHUNKS];
    static char apart[2 * PAGE] __attribute__((aligned(PAGE)));
    h.start = h.at = (uintptr_t)map_aligned(1 << 20);
    for (int k = 0; k < CHUNKS; k++)
      v[k] = add_chunk(&h, CHUNK, true, 0);
    add_chunk(&h, CHUNK, false, 0);
    // A mapping that is a single large block of malloc's.
    words((uintptr_t)apart)[1] = PAGE | 2;
    const struct mprof_area a[] = {
        {.start = (uintptr_t)apart,
         .limit = (uintptr_t)apart + PAGE,
         .is_unnamed = true},
        {.start = h.start, .limit = h.at, .is_heap = true}};
    words(v[HURT + 1])[0] = (uintptr_t)apart + 100;

    struct mprof_memory m = memory_of(a, 2);
    CHECK_EQ(mprof_memory_find_blocks(&m), 0);
    CHECK_EQ(m.blocks_len, 2);
    mprof_memory_mark_roots(&m);
    CHECK(!mprof_memory_is_reached(&m, (uintptr_t)apart));
    CHECK(!mprof_memory_is_reached(&m, v[0]));

    words(v[HURT])[-1] = wrong[i];
    m = memory_of(a, 2);
    CHECK_EQ(mprof_memory_find_blocks(&m), 0);
    CHECK_EQ(m.blocks_len, 1);
    CHECK(m.steps < CHUNKS);
    CHECK(mprof_memory_is_reached(&m, v[0]));
    CHECK(mprof_memory_is_reached(&m, v[HURT + 1]));
    CHECK(!mprof_memory_is_reached(&m, (uintptr_t)apart));
    mprof_memory_mark_roots(&m);
    CHECK(mprof_memory_is_reached(&m, (uintptr_t)apart));
  }
  return 0;
}
