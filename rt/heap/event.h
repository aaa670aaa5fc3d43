// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts heap events. The runtime's entries report here that a block was
// allocated, freed or resized. An event is counted in the block's bucket and
// passed to the heapx counters, the allocation log and the trace. The callers
// need not set the guard. If the guard is already set, the event happened
// inside the runtime and is counted as lost. (Go: mProf_Malloc, mProf_Free)

#ifndef MPROF_RT_HEAP_EVENT_H
#define MPROF_RT_HEAP_EVENT_H

#include "sys/base.h"

// The family of functions that allocated a block. OTHER means unknown.
enum mprof_family { MPROF_FAMILY_OTHER, MPROF_FAMILY_C, MPROF_FAMILY_CXX };

// The work of an event besides counting, as bits of one byte. An event tests
// this byte once to see that there is no such work. Written at start and in a
// forked child.
enum { MPROF_OBSERVES_HEAPX = 1, MPROF_OBSERVES_LOG = 2 };
extern unsigned char mprof_event_observers;
static inline bool mprof_events_do_more(void) {
  return mprof_unlikely(mprof_event_observers != 0);
}
static inline bool mprof_events_log(void) {
  return mprof_unlikely((mprof_event_observers & MPROF_OBSERVES_LOG) != 0);
}
// Set mprof_event_observers. Call mprof_events_init at start, and
// mprof_events_init_child in a forked child; is_profiled tells whether the
// child is profiled.
void mprof_events_init(void);
void mprof_events_init_child(bool is_profiled);

struct mprof_alloc_event {
  void *ptr;
  size_t size;
  uint64_t rate;   // heap_rate at which the sample was chosen
  uintptr_t frame; // frame address of the entry
  bool is_placed;  // placed on a page boundary (page_placement.h)
  enum mprof_family family;
};
// Counts the allocation of a block. If that fails, counts the block as lost.
void mprof_event_alloc(const struct mprof_alloc_event *ev);

// Removes a block from the live map. Call this before the allocator can give
// the block's address to another thread. Then pass the result to
// mprof_event_freed, mprof_event_resized or mprof_event_kept. In the result,
// bucket is 0 if the block is not counted.
struct mprof_released {
  uint32_t bucket; // handle
  bool is_placed;
  // For the heapx counters (heapx.h). Both fields are 0 if heapx is off.
  bool is_last;
  size_t slack;
};
struct mprof_released mprof_event_release(void *ptr);
// Counts the free of a released block. An explicit free, unlike a free by a
// garbage collector, is counted in index C+2 (cycle.h). (Go: mProf_Free)
void mprof_event_freed(struct mprof_released r);
// Releases a block that is about to be freed, and counts its free.
struct mprof_released mprof_event_free(void *ptr);
// Counts the free of a released block at ptr that was resized to size bytes and
// is now at moved_to. moved_to is NULL if the reallocation freed the block.
// countdown is the thread's countdown before the call site subtracted size.
void mprof_event_resized(struct mprof_released r, const void *ptr,
                         const void *moved_to, size_t size, int64_t countdown);
// Inserts a released block into the live map again, because its reallocation
// failed.
void mprof_event_kept(struct mprof_released r, void *ptr);

// Events of blocks of the program's own allocators. Such a block is counted
// separately from a heap block at the same address. ptr must not be NULL.
struct mprof_alloc_owner {
  uintptr_t arena; // address that identifies the block's arena; 0: none
  bool is_outer;   // contains the blocks already at ptr, which stay counted
};
void mprof_event_custom_alloc(const struct mprof_alloc_event *ev,
                              const struct mprof_alloc_owner *place);
struct mprof_released mprof_event_custom_release(void *ptr);
void mprof_event_custom_kept(struct mprof_released r, void *ptr);
// Counts the frees of all blocks of the arena, which the program resets.
void mprof_event_arena_reset(const void *arena);

#endif // MPROF_RT_HEAP_EVENT_H
