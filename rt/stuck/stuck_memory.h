// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a copy of the process, as a conservative garbage collector sees
// it: roots, and blocks. A block is reached when a searched word points into
// it; the words of a reached block are searched, too. The blocks are those of
// glibc's malloc, found by walking its heaps in place, and the stacks of
// threads that wait. Any memory that is not understood is a root.
// (LeakSanitizer's lsan_common does so with its own allocator.)
//
//   read --> cut, add_block --> find_blocks --> mark_*, follow --> is_reached
//
// Call all functions only in a helper process (os_linux_cold.h), whose memory
// no other thread changes.

#ifndef MPROF_RT_STUCK_STUCK_MEMORY_H
#define MPROF_RT_STUCK_STUCK_MEMORY_H

#include "sys/base.h"

// A mapping, or the part of a mapping that is left after cuts.
struct mprof_area {
  uintptr_t start, limit;
  bool is_hidden;  // not readable at present
  bool is_shared;  // shared with other processes; never a device
  bool is_heap;    // [heap], and readable
  bool is_stack;   // [stack], and readable
  bool is_unnamed; // without a file, and readable
};

// A heap of blocks, or a single block.
struct mprof_blocks {
  uintptr_t start, limit;
  // Bit i: a block in use begins at start + 16 i. NULL: this is a single block.
  uint64_t *starts;
  uint64_t *marks; // bit i: the block at start + 16 i is reached
  bool is_marked;  // a single block is reached
};

struct mprof_memory {
  struct mprof_area *areas; // sorted by address
  size_t areas_len, areas_cap;
  // Sorted by address after mprof_memory_find_blocks.
  struct mprof_blocks *blocks;
  size_t blocks_len, blocks_cap;
  struct mprof_reached {
    uintptr_t start, limit;
  } *todo; // ranges that are reached, but not searched yet
  size_t todo_len, todo_cap;
  // A cache of marked chunks (blocks of malloc), by bits of the address that
  // was met. It takes long to find the chunk of an address in the middle of a
  // large chunk.
  struct mprof_reached marked[64];
  uintptr_t low, high; // bounds of all blocks
  size_t steps;        // number of chunks, and of words of `starts`, looked at
  int pagemap;         // file descriptor
  uintptr_t main_top;  // last chunk of glibc's main heap; 0: not found
  bool has_rings;      // the process has rings of io_uring or aio
};

// Reads the memory map. Returns 0, -ENOMEM, or the error of reading /proc.
int mprof_memory_read(struct mprof_memory *m);
// Returns the area that contains addr, or NULL.
const struct mprof_area *mprof_memory_area(const struct mprof_memory *m,
                                           uintptr_t addr);
// Cuts a range out of the areas, so that it is not a root.
void mprof_memory_cut(struct mprof_memory *m, uintptr_t start, uintptr_t limit);
// Adds a single block.
void mprof_memory_add_block(struct mprof_memory *m, uintptr_t start,
                            uintptr_t limit);
// Finds the blocks of malloc, and cuts the heaps out of the areas. The caller
// must not cut areas or add blocks afterwards. Returns 0 or -ENOMEM.
int mprof_memory_find_blocks(struct mprof_memory *m);

// Searches the roots: the areas that are left.
void mprof_memory_mark_roots(struct mprof_memory *m);
// Searches the words of a range.
void mprof_memory_mark_range(struct mprof_memory *m, uintptr_t start,
                             uintptr_t limit);
// Marks the block that a word points into, if the word is such an address.
void mprof_memory_mark(struct mprof_memory *m, uintptr_t word);
// Searches all reached blocks, and the blocks that these reach.
void mprof_memory_follow(struct mprof_memory *m);
// Returns whether addr lies in a reached block, or in no block at all.
bool mprof_memory_is_reached(struct mprof_memory *m, uintptr_t addr);

// Returns the word at an address, which must be readable.
static inline uintptr_t mprof_memory_word_at(uintptr_t addr) {
  return *(const volatile uintptr_t *)addr;
}

#endif // MPROF_RT_STUCK_STUCK_MEMORY_H
