// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks whose blocks keep free memory resident. malloc can give back whole
// pages only, so the blocks in use in a page keep the free bytes of the page. A
// block of b bytes in a page with u bytes in use and f free bytes keeps f * b /
// u of them. A sampled block represents several blocks (sys/scale.h), and
// counts that many times. So the estimates are unbiased for each stack, if
// blocks lie where they would lie without MProf.
//
// All memory comes from mprof_os_map.

#ifndef MPROF_RT_MEMORY_HOLES_H
#define MPROF_RT_MEMORY_HOLES_H

#include "memory/process_memory.h"
#include "sys/pctable.h"

struct mprof_bucket;

// Returns the bucket that has counted the block at addr, or NULL if the block
// was not sampled.
typedef const struct mprof_bucket *mprof_block_stack_fn(uintptr_t addr);

// The bytes of keepers are multiples of 1 / (1 << MPROF_KEEPER_SHIFT).
enum { MPROF_KEEPER_SHIFT = 10 };
struct mprof_keeper {
  const struct mprof_bucket *stack;
  uint64_t factor; // blocks that a sampled block represents (sys/scale.h)
  uint64_t kept;   // free bytes
  uint64_t used;   // bytes of the blocks in the pages with these free bytes
};

// The part of a chunk in use that lies in the present page.
struct mprof_page_block {
  uintptr_t block;
  uint64_t bytes;
};
// No chunk has less than 32 bytes.
enum { MPROF_PAGE_BLOCKS = MPROF_PAGE / 32 + 1 };

struct mprof_holes {
  struct mprof_process *process;
  mprof_block_stack_fn *stack_of;
  struct mprof_keeper *keepers;
  size_t len, keepers_bytes;
  struct mprof_pc_table by_stack; // bucket -> index of its keeper, plus 1
  // Addresses of the chunks in the caches of threads and arenas. They are
  // neither in use nor free.
  struct mprof_pc_table cached;
  // The present page.
  uintptr_t page;
  uint64_t used, free;
  struct mprof_page_block blocks[MPROF_PAGE_BLOCKS];
  size_t blocks_len;
};

// Adds the chunk [start, limit). Chunks are added in the order of their
// addresses. block: address of the block in the chunk; 0: the chunk is free.
// Does nothing if the chunk is in h->cached.
void mprof_holes_add(struct mprof_holes *h, uintptr_t start, uintptr_t limit,
                     uintptr_t block);
// Ends the last page of a heap.
void mprof_holes_end(struct mprof_holes *h);
void mprof_holes_free(struct mprof_holes *h);

#endif // MPROF_RT_MEMORY_HOLES_H
