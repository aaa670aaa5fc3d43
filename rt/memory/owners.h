// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who uses the anonymous memory of a process: glibc's malloc, another
// allocator, and the stacks of threads. The account asks each of them
// (account.c).
//
// What is true for struct mprof_process holds here, too.

#ifndef MPROF_RT_MEMORY_OWNERS_H
#define MPROF_RT_MEMORY_OWNERS_H

#include "memory/process_memory.h"
#include "sys/pctable.h"

// --- holes (glibc_malloc.c) ---
//
// The stacks whose blocks keep free memory resident. malloc can give back whole
// pages only, so the blocks in use in a page keep the free bytes of the page. A
// block of b bytes in a page with u bytes in use and f free bytes keeps f * b /
// u of them. A sampled block represents several blocks (sys/scale.h), and
// counts that many times. So the estimates are unbiased for each stack, if
// blocks lie where they would lie without MProf.
//
// All memory comes from mprof_os_map.

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

void mprof_holes_free(struct mprof_holes *h);

// --- glibc's malloc (glibc_malloc.c) ---
//
// The heaps of glibc's malloc in the memory of a process: which of their
// resident bytes are blocks in use, and which are free. The heaps are walked
// chunk by chunk in copied memory. malloc's locks are not taken, so the program
// may change a heap during the walk. A walk that meets an invalid chunk is
// repeated; a heap that cannot be walked then is given as a whole.

// The sorts of bytes in a heap.
enum mprof_heap_sort {
  MPROF_HEAP_USED,   // blocks in use, with their size words
  MPROF_HEAP_LISTED, // free chunks between the blocks
  MPROF_HEAP_CACHED, // freed blocks in the caches of threads and arenas
  MPROF_HEAP_TOP,    // the free end of the heap
  MPROF_HEAP_OWN,    // data of malloc
  MPROF_HEAP_SORTS,
};

struct mprof_glibc_chunks {
  uint64_t bytes, count;
};

struct mprof_glibc_heap {
  uintptr_t start, limit;
  unsigned arena; // 0: the main arena
  bool is_walked; // false: all bytes are MPROF_HEAP_USED, and this is unsure
  uintptr_t first, top; // the first and the last chunk
  uint64_t resident[MPROF_HEAP_SORTS];
  uint64_t free_pages; // bytes of MPROF_HEAP_LISTED that are whole pages
  uint64_t blocks;     // number of the blocks in use
  // Chunks that look as if the arena's lists of small freed blocks had them.
  // The caches of threads have such chunks, too, but few.
  struct mprof_glibc_chunks looks_fast;
  bool has_long_lists; // looks_fast was taken for these lists
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
// Returns how much resident memory of the heap the blocks in use keep: their
// own bytes, and the free memory around them, but not more than a page for each
// block. malloc could give the rest back.
uint64_t mprof_glibc_kept(const struct mprof_glibc_heap *h);
// Adds the chunks of a heap to *holes.
void mprof_glibc_add_holes(const struct mprof_glibc_heap *h,
                           struct mprof_holes *holes);

// --- other allocators (other_malloc.c) ---
//
// Other allocators than glibc's malloc: jemalloc, tcmalloc and mimalloc. Their
// heaps are not walked. Some of them say themselves what they hold.

// Returns whether a library is an allocator, such as libjemalloc.so.2. name:
// the name of its file without the directory.
bool mprof_other_malloc_is(const char *name);

struct mprof_other_malloc {
  const char *name; // of the allocator; NULL: none says what it holds
  // Bytes that the allocator of this process holds. At most one of the numbers
  // is MPROF_OTHER_MALLOC_REST: all that the other numbers leave.
  uint64_t bytes[MPROF_HEAP_SORTS];
};
#define MPROF_OTHER_MALLOC_REST UINT64_MAX

// Asks the allocator of this process. It takes its own locks, so do not call
// this function in a signal handler.
struct mprof_other_malloc mprof_other_malloc_ask(void);

// Sets the answer for accounts that are taken from now on, so that they do not
// ask; NULL: they ask. Call with writer_lock held.
void mprof_other_malloc_answer(const struct mprof_other_malloc *said);
// Returns this answer, or asks.
struct mprof_other_malloc mprof_other_malloc_said(void);

// --- stacks of threads (libc_stacks.c) ---
//
// The stacks that glibc has allocated for threads, in the memory of a process.
// The top of such a stack contains the thread's control block (struct pthread).

struct mprof_stack_found {
  uintptr_t start, limit; // without guard pages
  int tid;                // 0 or less: the thread has ended
};

// Searches mapping m, whose predecessor is a guard page, for a stack at its
// begin. *pages: the number of resident pages that may still be searched.
bool mprof_libc_stack_find(struct mprof_process *p,
                           const struct mprof_mapped *m, size_t *pages,
                           struct mprof_stack_found *s);

#endif // MPROF_RT_MEMORY_OWNERS_H
