// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a copy of the process, as a conservative collector sees it:
// roots, and blocks that are reached when a word that is looked at points into
// them. Blocks are those of glibc's malloc, found by walking its heaps in
// place, and stacks of threads that wait. Whatever is not understood is a root.
// (LeakSanitizer's lsan_common does so with its own allocator.)
//
// Only in a helper process (os_linux_cold.h), whose memory nobody changes.

#ifndef MPROF_RT_STUCK_STUCK_MEMORY_H
#define MPROF_RT_STUCK_STUCK_MEMORY_H

#include "sys/base.h"

// A mapping, or what is left of one.
struct mprof_area {
  uintptr_t start, limit;
  bool is_hidden;  // not readable for now
  bool is_shared;  // with other processes; never a device
  bool is_heap;    // [heap], and readable
  bool is_stack;   // [stack], and readable
  bool is_unnamed; // of no file, and readable
};

// A heap of blocks, or one block.
struct mprof_blocks {
  uintptr_t start, limit;
  uint64_t *starts; // bit i: a block in use begins at start + 16 i; NULL: one
  uint64_t *marks;  // the same: it is reached
  bool is_marked;   // of one
};

struct mprof_memory {
  struct mprof_area *areas; // by address
  size_t areas_len, areas_cap;
  struct mprof_blocks *blocks; // by address, after mprof_memory_find_blocks
  size_t blocks_len, blocks_cap;
  struct mprof_reached {
    uintptr_t start, limit;
  } *todo; // reached, but not looked at yet
  size_t todo_len, todo_cap;
  // Marked chunks, by where they were met last: to find out what an address in
  // the middle of a large one belongs to takes long.
  struct mprof_reached marked[64];
  uintptr_t low, high; // of all blocks
  size_t steps;        // chunks, and words of starts, that were looked at
  int pagemap;         // descriptor
  uintptr_t main_top;  // of glibc's main heap, its last chunk; 0: not found
  bool has_rings;      // of the kernel's, for io_uring or aio
};

// 0, ENOMEM, or what reading /proc gave.
int mprof_memory_read(struct mprof_memory *m);
// The area of an address, or NULL.
const struct mprof_area *mprof_memory_area(const struct mprof_memory *m,
                                           uintptr_t addr);
// Takes a range out of what is looked at.
void mprof_memory_cut(struct mprof_memory *m, uintptr_t start, uintptr_t limit);
// A block by itself.
void mprof_memory_add_block(struct mprof_memory *m, uintptr_t start,
                            uintptr_t limit);
// Takes the heaps out of the areas; no area is cut and no block added
// afterwards. 0 or ENOMEM.
int mprof_memory_find_blocks(struct mprof_memory *m);

// Looks at what is left of the areas.
void mprof_memory_mark_roots(struct mprof_memory *m);
// Looks at the words of a range.
void mprof_memory_mark_range(struct mprof_memory *m, uintptr_t start,
                             uintptr_t limit);
// A word that may be an address.
void mprof_memory_mark(struct mprof_memory *m, uintptr_t word);
// Looks at all that was reached, and what that reaches.
void mprof_memory_follow(struct mprof_memory *m);
// Whether an address lies in a block that was reached, or in none.
bool mprof_memory_is_reached(struct mprof_memory *m, uintptr_t addr);

#endif // MPROF_RT_STUCK_STUCK_MEMORY_H
