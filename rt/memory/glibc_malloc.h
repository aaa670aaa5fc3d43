// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heaps of glibc's malloc in the memory of a process: which of their
// resident bytes are blocks in use, and which are free. The heaps are walked
// chunk by chunk in copied memory. malloc's locks are not taken, so the program
// may change a heap during the walk. A walk that meets an invalid chunk is
// repeated; a heap that cannot be walked then is given as a whole.
//
// What is true for struct mprof_process holds here, too.

#ifndef MPROF_RT_MEMORY_GLIBC_MALLOC_H
#define MPROF_RT_MEMORY_GLIBC_MALLOC_H

#include "memory/holes.h"
#include "memory/process_memory.h"

// The sorts of bytes in a heap.
enum mprof_heap_sort {
  MPROF_HEAP_USED,   // blocks in use, with their size words
  MPROF_HEAP_LISTED, // free chunks between the blocks
  MPROF_HEAP_CACHED, // freed blocks in the caches of threads and arenas
  MPROF_HEAP_TOP,    // the free end of the heap
  MPROF_HEAP_OWN,    // data of malloc
  MPROF_HEAP_SORTS,
};

struct mprof_glibc_heap {
  uintptr_t start, limit;
  unsigned arena; // 0: the main arena
  bool is_walked; // false: all bytes are MPROF_HEAP_USED, and this is unsure
  uintptr_t first, top; // the first and the last chunk
  uint64_t resident[MPROF_HEAP_SORTS];
  uint64_t free_pages; // bytes of MPROF_HEAP_LISTED that are whole pages
};

// A large block: a mapping of its own, or a chunk of a heap.
struct mprof_glibc_block {
  uintptr_t start, limit; // of the chunk
  uintptr_t block;        // the address that the program has
};

struct mprof_glibc {
  struct mprof_glibc_heap *heaps;
  size_t heaps_len, heaps_bytes;
  struct mprof_glibc_block *blocks; // mappings, sorted by address
  size_t blocks_len, blocks_bytes;
  struct mprof_glibc_block *large; // chunks in use of at least two pages
  size_t large_len, large_bytes;
  // Ranges without such mappings, sorted by address.
  const struct mprof_mapped_range *ranges, *ranges_end;
  uintptr_t *arenas; // addresses of the arenas; 0: that of the main arena
  size_t arenas_len, arenas_bytes;
  struct mprof_pc_table *cached; // see mprof_glibc_find
};

// Finds the heaps of p. Before the call, only g->ranges and g->ranges_end are
// set. Returns 0 or -ENOMEM. Call mprof_glibc_free also after
// an error. cached: gets the addresses of the chunks in the caches of threads
// and arenas, as far as there is memory; or NULL.
int mprof_glibc_find(struct mprof_glibc *g, struct mprof_process *p,
                     struct mprof_pc_table *cached);
void mprof_glibc_free(struct mprof_glibc *g);
// Adds the chunks of a heap to *holes.
void mprof_glibc_add_holes(const struct mprof_glibc_heap *h,
                           struct mprof_holes *holes);

#endif // MPROF_RT_MEMORY_GLIBC_MALLOC_H
