// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches the memory of a copy of the process for pointers, in the way of a
// conservative garbage collector. Memory consists of roots and blocks. All
// words of the roots are searched. A block is reached if a searched word points
// into it. All words of a reached block are searched, too.
//
// There are two sorts of blocks: the blocks of glibc's malloc, which are found
// by walking its heaps in place, and the stacks of waiting threads. All other
// memory is a root. (LeakSanitizer's lsan_common searches memory in the same
// way, but with its own allocator.)
//
// The functions mprof_memory_* are called in this order:
//
//   read, cut      stuck_memory.c reads the memory map. Stacks and the
//   runtime's
//                  own mappings are removed from its areas.
//   add_block, find_blocks
//                  stuck_blocks.c finds malloc's heaps. They become blocks, and
//                  are removed from the areas, too. The remaining areas are the
//                  roots: each of their words may be the address of a block. A
//                  heap whose layout is not understood stays in the areas, so
//                  it is a root.
//   mark_*, follow, is_reached
//                  stuck_memory.c searches the words of the roots and of the
//                  reached blocks.
//
// Call all functions only in a helper process (helper_process.h), whose memory
// no other thread changes.

#ifndef MPROF_RT_STUCK_STUCK_MEMORY_H
#define MPROF_RT_STUCK_STUCK_MEMORY_H

#include "stuck/stuck.h"
#include "sys/base.h"

// A mapping, or a part of a mapping that remains after mprof_memory_cut has
// removed another part.
struct mprof_area {
  uintptr_t start, limit;
  bool is_hidden;  // not readable now
  bool is_shared;  // shared with other processes; not a device
  bool is_heap;    // the mapping [heap], and readable
  bool is_stack;   // the mapping [stack], and readable
  bool is_unnamed; // has no name in /proc/self/maps, and is readable
};

// A heap of malloc with its blocks, or a single block.
struct mprof_blocks {
  uintptr_t start, limit;
  // Bit i is set if a block in use begins at start + 16 * i. The pointer is
  // NULL if this struct is a single block.
  uint64_t *starts;
  uint64_t *marks; // bit i is set if the block at start + 16 * i is reached
  bool is_marked;  // only for a single block: the block is reached
};

struct mprof_memory {
  struct mprof_area *areas; // sorted by address
  size_t areas_len, areas_cap;
  // Sorted by address after mprof_memory_find_blocks.
  struct mprof_blocks *blocks;
  size_t blocks_len, blocks_cap;
  struct mprof_reached {
    uintptr_t start, limit;
  } *todo; // address ranges that are reached but not yet searched
  size_t todo_len, todo_cap;
  // A cache of chunks (blocks of malloc) that are already marked as reached.
  // Bits of a searched address select the entry. The cache is needed because it
  // takes long to find the chunk that contains an address in the middle of a
  // large chunk.
  struct mprof_reached marked[64];
  uintptr_t low, high; // bounds of all blocks
  size_t steps;        // cost so far: chunks walked, and words of `starts` read
  int pagemap;         // file descriptor of /proc/self/pagemap
  uintptr_t main_top;  // last chunk of glibc's main heap; 0: not found
  bool has_rings;      // the process uses io_uring or aio
};

// Reads the process's memory map into m. Returns 0, -ENOMEM, or -errno of
// reading /proc.
int mprof_memory_read(struct mprof_memory *m);
// Returns the area that contains addr, or NULL.
const struct mprof_area *mprof_memory_area(const struct mprof_memory *m,
                                           uintptr_t addr);
// Removes a range from the areas, so that the range is not a root.
void mprof_memory_cut(struct mprof_memory *m, uintptr_t start, uintptr_t limit);
// A function that mprof_memory_each_page calls. The range is a page, or the
// part of a page that the caller has asked for.
typedef void mprof_visit_pages(struct mprof_memory *m, uintptr_t start,
                               uintptr_t limit);
// Calls fn for each page of private memory that was ever written. Skips all
// other pages, because a page that still belongs to a file or was never touched
// contains no addresses of this process.
void mprof_memory_each_page(struct mprof_memory *m, uintptr_t start,
                            uintptr_t limit, mprof_visit_pages *fn);

// Returns the word at an address, which must be readable.
static inline uintptr_t mprof_memory_word_at(uintptr_t addr) {
  return *(const volatile uintptr_t *)addr;
}

// --- stacks of libc ---
//
// The stacks that libc has allocated for threads. The top of such a stack
// contains the thread's control block (glibc: struct pthread), to which the
// thread's pthread_t points:
//
//   start                          block           limit
//   |   stack, which grows down    | control block |
//
// The guard pages below the stack may be a separate area. In this case the
// result does not contain them.

struct mprof_libc_stack {
  uintptr_t start, block, limit;
  // Id of the thread, read from its control block. Only
  // mprof_memory_last_libc_stack sets this field.
  int tid;
};

// Finds the stack of the thread whose control block is at the address `block`
// in area a. Any value of `block` is allowed. Returns false, and leaves *s
// unchanged, if the memory at `block` is not known to be a thread's control
// block.
bool mprof_memory_libc_stack(const struct mprof_area *a, uintptr_t block,
                             struct mprof_libc_stack *s);
// Finds the stack at the end of area a, and the id of its thread. Returns false
// if there is no such stack. With musl, always returns false.
bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s);
// Removes from the areas the stacks of ended threads, which libc keeps for new
// threads. Such a stack still contains addresses that the ended thread has
// stored, and the search must not follow these addresses. If the ended thread
// can still be joined, its control block is not removed, because the control
// block contains the thread's result.
// is_used: returns whether a thread with id tid still runs.
void mprof_memory_cut_unused_stacks(struct mprof_memory *m,
                                    bool (*is_used)(void *arg, int tid),
                                    void *arg);

// --- marks ---
//
// These functions search the words of the roots and of all reached blocks for
// addresses of blocks. Call them after mprof_memory_find_blocks.

// Searches the words of the roots. The roots are the areas that remain after
// all calls of mprof_memory_cut.
void mprof_memory_mark_roots(struct mprof_memory *m);
// Searches the words of a range. Marks the blocks that these words point into
// as reached.
void mprof_memory_mark_range(struct mprof_memory *m, uintptr_t start,
                             uintptr_t limit);
// Marks the block that the word points into as reached. Does nothing if the
// word points into no block.
void mprof_memory_mark(struct mprof_memory *m, uintptr_t word);
// Searches the words of all reached blocks, until no further blocks are
// reached.
void mprof_memory_follow(struct mprof_memory *m);
// Returns whether addr is in a reached block, or in no block at all.
bool mprof_memory_is_reached(struct mprof_memory *m, uintptr_t addr);

// --- the blocks of malloc (stuck_blocks.c) ---
//
// Finds the blocks of glibc's malloc in a copy of the process, by walking
// malloc's heaps in place. Finds the block that contains an address. Call all
// functions only in a helper process.

// Adds a single block that malloc did not allocate.
void mprof_memory_add_block(struct mprof_memory *m, uintptr_t start,
                            uintptr_t limit);
// Finds the blocks of malloc, and removes malloc's heaps from the areas. Call
// this after all calls of mprof_memory_cut and mprof_memory_add_block. Returns
// 0 or -ENOMEM.
int mprof_memory_find_blocks(struct mprof_memory *m);

// A chunk is a block of malloc with the two words before it. The second word is
// its size and three flags. The addresses of chunks are multiples of
// MPROF_CHUNK_UNIT.
enum { MPROF_CHUNK_UNIT = 16, MPROF_CHUNK_FLAGS = 7 };
static inline uintptr_t mprof_chunk_size(uintptr_t chunk) {
  return mprof_memory_word_at(chunk + sizeof(uintptr_t)) &
         ~(uintptr_t)MPROF_CHUNK_FLAGS;
}

// Returns the heap or the single block that contains addr, or NULL. Call this
// after mprof_memory_find_blocks.
struct mprof_blocks *mprof_memory_blocks_at(const struct mprof_memory *m,
                                            uintptr_t addr);
#define MPROF_NO_CHUNK SIZE_MAX
// Returns the index (in units of MPROF_CHUNK_UNIT) of the chunk in use of heap
// b that contains addr. Returns MPROF_NO_CHUNK if there is no such chunk. The
// last word of a chunk in use is the first word of the next chunk. Adds the
// cost of the call to *steps.
size_t mprof_memory_chunk_of(const struct mprof_blocks *b, uintptr_t addr,
                             size_t *steps);

// Bit i of the fields `starts` and `marks` of struct mprof_blocks.
static inline bool mprof_bit_get(const uint64_t *bits, size_t i) {
  return bits[i / 64] >> (i % 64) & 1;
}
static inline void mprof_bit_set(uint64_t *bits, size_t i) {
  bits[i / 64] |= UINT64_C(1) << (i % 64);
}

// --- the search (stuck_scan.c) ---
//
// Searches memory for the conditions, semaphores and barriers that threads wait
// for. All threads are stopped, the process is copied, and the threads
// continue. A helper process then searches the copy. If a thread that may run
// can reach an object, this thread may still wake the threads that wait for the
// object.

// Stops all threads, fills g again by mprof_stuck_graph_take, and sets
// is_reached of all threads in g. Call with the guard set. Returns 0, -ENOMEM
// or -ECANCELED. If the result is -ECANCELED, g->unjudged tells the reason.
// caller: the program's frames and registers in the calling thread.
// age: in ticks; shorter waits are ignored.
int mprof_stuck_scan(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age);

#endif // MPROF_RT_STUCK_STUCK_MEMORY_H
