// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events of the heap: entries report here that a block was allocated, freed or
// resized. An event is counted in its bucket and passed on to the heapx
// counters, the allocation log and the trace. Entries need no guard; an event
// inside the runtime is counted as lost. (Go: mProf_Malloc, mProf_Free)

#ifndef MPROF_RT_HEAP_EVENT_H
#define MPROF_RT_HEAP_EVENT_H

#include "sys/base.h"

// The allocator family of an entry file's blocks. OTHER: unknown.
enum mprof_family { MPROF_FAMILY_OTHER, MPROF_FAMILY_C, MPROF_FAMILY_CXX };

// The extra work of events besides counting, as bits of one byte. So an event
// without extra work tests only one byte. Written at start and in a forked
// child.
enum { MPROF_OBSERVES_HEAPX = 1, MPROF_OBSERVES_LOG = 2 };
extern unsigned char mprof_event_observers;
static inline bool mprof_events_do_more(void) {
  return mprof_unlikely(mprof_event_observers != 0);
}
static inline bool mprof_events_log(void) {
  return mprof_unlikely((mprof_event_observers & MPROF_OBSERVES_LOG) != 0);
}
// Set mprof_event_observers: at start, and in a forked child, which may not be
// profiled.
void mprof_events_init(void);
void mprof_events_init_child(bool is_profiled);

struct mprof_alloc_event {
  void *ptr;
  size_t size;
  uint64_t rate;   // heap_rate at which the sample was chosen
  uintptr_t frame; // frame address of the entry
  bool is_placed;  // put on a page boundary, so that sites see its free
  enum mprof_family family;
};
// Counts a block. If that fails, counts the block as lost.
void mprof_event_alloc(const struct mprof_alloc_event *ev);

// Removes a block from the profile, before its allocator can give the address
// to another thread. Pass the result to mprof_event_freed, _resized or _kept.
// bucket is 0 if the block is not counted.
struct mprof_released {
  uint32_t bucket; // handle
  bool is_placed;
  // Both 0 without the option heapx; see heapx.h.
  bool is_last;
  size_t slack;
};
struct mprof_released mprof_event_release(void *ptr);
// Counts the free of a released block. The free is explicit, so it counts
// in index C+2 (cycle.h). (Go: mProf_Free)
void mprof_event_freed(struct mprof_released r);
// Releases a block that is about to be freed, and counts its free.
struct mprof_released mprof_event_free(void *ptr);
// Counts the free of a released block at ptr that was resized to size bytes and
// now lies at moved_to. moved_to is NULL if the reallocation freed the block.
// countdown: the thread's countdown before the site subtracted size.
void mprof_event_resized(struct mprof_released r, const void *ptr,
                         const void *moved_to, size_t size, int64_t countdown);
// Puts a released block back, since its reallocation failed.
void mprof_event_kept(struct mprof_released r, void *ptr);

// Events of blocks of the program's own allocators. These blocks are separate
// from blocks of the heap at the same addresses. ptr is not NULL.
struct mprof_alloc_owner {
  uintptr_t arena; // address that names the block's arena, 0 for none
  bool is_outer;   // blocks that are entered at ptr stay counted
};
void mprof_event_custom_alloc(const struct mprof_alloc_event *ev,
                              const struct mprof_alloc_owner *place);
struct mprof_released mprof_event_custom_release(void *ptr);
void mprof_event_custom_kept(struct mprof_released r, void *ptr);
// Counts the frees of all blocks of an arena.
void mprof_event_arena_reset(const void *arena);

#endif // MPROF_RT_HEAP_EVENT_H
