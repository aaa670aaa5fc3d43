// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the allocations and frees of the heap. An entry of the runtime, such
// as __mprof_malloc, counts a block in these steps:
//
//   MPROF_SAMPLE_ALLOC   decides whether to count the block       (sampling.c)
//   mprof_place_block    allocates it on a page boundary, or the entry calls
//                        the program's own allocator     (page_placement.c)
//   mprof_event_alloc    finds the bucket, puts the block into the live map,
//                        and counts                   (event.c, livemap.c)
//
// A free takes the block from the live map: mprof_event_free. (Go:
// mProf_Malloc, mProf_Free)
//
// The callers need not set the recursion guard. If the guard is already set,
// the caller is a signal handler that has interrupted the runtime. An
// allocation in this handler is counted as lost.

#ifndef MPROF_RT_HEAP_EVENT_H
#define MPROF_RT_HEAP_EVENT_H

#include "heap/sampling.h"
#include "sys/base.h"

// Counts the block at ptr, which the allocator has returned for the allocation
// a. Returns ptr. Does nothing if ptr is NULL, because the allocation has
// failed. If the block cannot be counted, counts the event as lost.
void *mprof_event_alloc(const struct mprof_alloc *a, void *ptr);

// mprof_event_release removes the block at ptr from the live map and returns
// facts about it. Call this function before the allocator can give the block's
// address to another thread. Then pass the result to mprof_event_freed,
// mprof_event_resized or mprof_event_kept. If the block is not counted, `cell`
// is 0.
struct mprof_released {
  uint32_t cell; // handle of the cell that has counted the block (bucket.h)
  // Only for observers, the heapx counters: the results of mprof_heapx_is_last
  // and mprof_heapx_slack for the block (heapx.h), and of mprof_births_take. 0
  // if the option heapx is off. A function can return the struct in registers,
  // because it has 16 bytes.
  uint32_t is_last : 1, slack : 31;
  uint64_t birth;
};
struct mprof_released mprof_event_release(void *ptr);
// Counts the free of a block that mprof_event_release has removed. The free is
// counted in index C+2 of the cycle machine (counts.h), where C is the number
// of the current cycle. Only the frees of a garbage collector are counted in
// another index. (Go: mProf_Free)
void mprof_event_freed(struct mprof_released r);
// Counts the free of the block at ptr, if the block is counted. Call this
// before the block is freed.
void mprof_event_free(void *ptr);
// Counts the free of all blocks, because the later frees will not be seen. Call
// while no block is allocated or freed.
void mprof_event_free_all(void);
// Counts that the block at ptr was resized to `size` bytes and is now at
// moved_to. moved_to is NULL if the reallocation has freed the block. r is the
// result of mprof_event_release. countdown is the value of the thread's
// sampling countdown before the call site subtracted `size`.
void mprof_event_resized(struct mprof_released r, const void *ptr,
                         const void *moved_to, size_t size, int64_t countdown);
// Inserts a block into the live map again after mprof_event_release, because
// the reallocation of the block has failed. If this is not possible, counts the
// free of the block, because its later free would not be recognized.
void mprof_event_kept(struct mprof_released r, void *ptr);

// Events of blocks of the program's own allocators. A block of such an
// allocator and a heap block at the same address are counted separately. ptr
// must not be NULL.
struct mprof_alloc_owner {
  uintptr_t arena; // address that identifies the block's arena; 0: none
  // True: the new block contains the blocks that are already counted at ptr,
  // and these blocks stay counted.
  bool is_outer;
};
void mprof_event_custom_alloc(const struct mprof_alloc *a, void *ptr,
                              const struct mprof_alloc_owner *owner);
struct mprof_released mprof_event_custom_release(void *ptr);
void mprof_event_custom_kept(struct mprof_released r, void *ptr);
// Counts the frees of all blocks of an arena. Call this when the program resets
// the arena.
void mprof_event_arena_reset(const void *arena);

#endif // MPROF_RT_HEAP_EVENT_H
