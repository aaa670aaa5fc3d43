// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches the memory of a copy of the process for pointers, like a
// conservative garbage collector. Memory consists of roots and blocks. All
// words of the roots are searched. A block is reached if a searched word points
// into it; then the words of the block are searched, too. Blocks are the blocks
// of glibc's malloc, found by walking its heaps in place, and the stacks of
// waiting threads. Any memory that is not understood is a root.
// (LeakSanitizer's lsan_common searches memory in the same way, but with its
// own allocator.)
//
//   read --> cut, add_block --> find_blocks --> mark_*, follow --> is_reached
//
// Call all functions only in a helper process (os_linux_cold.h), whose memory
// no other thread changes.

#ifndef MPROF_RT_STUCK_STUCK_MEMORY_H
#define MPROF_RT_STUCK_STUCK_MEMORY_H

#include "sys/base.h"

// A mapping, or the part of a mapping that mprof_memory_cut has left.
struct mprof_area {
  uintptr_t start, limit;
  bool is_hidden;  // currently not readable
  bool is_shared;  // shared with other processes; never a device
  bool is_heap;    // [heap], and readable
  bool is_stack;   // [stack], and readable
  bool is_unnamed; // without a name in /proc/self/maps, and readable
};

// A heap of malloc with its blocks, or a single block.
struct mprof_blocks {
  uintptr_t start, limit;
  // Bit i is set if a block in use begins at start + 16 i. NULL if this is a
  // single block.
  uint64_t *starts;
  uint64_t *marks; // bit i is set if the block at start + 16 i is reached
  bool is_marked;  // for a single block: it is reached
};

struct mprof_memory {
  struct mprof_area *areas; // sorted by address
  size_t areas_len, areas_cap;
  // Sorted by address after mprof_memory_find_blocks.
  struct mprof_blocks *blocks;
  size_t blocks_len, blocks_cap;
  struct mprof_reached {
    uintptr_t start, limit;
  } *todo; // ranges that are reached, but are not searched yet
  size_t todo_len, todo_cap;
  // A cache of marked chunks (blocks of malloc). Bits of a searched address
  // select the entry. The cache is needed because it takes long to find the
  // chunk that contains an address in the middle of a large chunk.
  struct mprof_reached marked[64];
  uintptr_t low, high; // bounds of all blocks
  size_t steps;        // cost: chunks walked, and words of `starts` read
  int pagemap;         // file descriptor of /proc/self/pagemap
  uintptr_t main_top;  // last chunk of glibc's main heap; 0: not found
  bool has_rings;      // the process has rings of io_uring or aio
};

// Reads the process's memory map into m. Returns 0, -ENOMEM, or the error
// (-errno) of reading /proc.
int mprof_memory_read(struct mprof_memory *m);
// Returns the area that contains addr, or NULL.
const struct mprof_area *mprof_memory_area(const struct mprof_memory *m,
                                           uintptr_t addr);
// Removes a range from the areas, so that the range is not a root.
void mprof_memory_cut(struct mprof_memory *m, uintptr_t start, uintptr_t limit);
// Adds a single block, which malloc does not know.
void mprof_memory_add_block(struct mprof_memory *m, uintptr_t start,
                            uintptr_t limit);
// Finds the blocks of malloc, and removes malloc's heaps from the areas. The
// caller must not cut areas or add blocks afterwards. Returns 0 or -ENOMEM.
int mprof_memory_find_blocks(struct mprof_memory *m);

// Searches the words of the roots, which are the areas that remain after all
// cuts.
void mprof_memory_mark_roots(struct mprof_memory *m);
// Searches the words of a range, and marks the blocks that they point into.
void mprof_memory_mark_range(struct mprof_memory *m, uintptr_t start,
                             uintptr_t limit);
// Marks the block that the word points into as reached. Does nothing if the
// word points into no block.
void mprof_memory_mark(struct mprof_memory *m, uintptr_t word);
// Searches the words of all reached blocks, until no further blocks are
// reached.
void mprof_memory_follow(struct mprof_memory *m);
// Returns whether addr lies in a reached block, or in no block at all.
bool mprof_memory_is_reached(struct mprof_memory *m, uintptr_t addr);

// Returns the word at an address, which must be readable.
static inline uintptr_t mprof_memory_word_at(uintptr_t addr) {
  return *(const volatile uintptr_t *)addr;
}

#endif // MPROF_RT_STUCK_STUCK_MEMORY_H
