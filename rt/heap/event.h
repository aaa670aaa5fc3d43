// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an entry reports: a block came, a block went. (Go: mProf_Malloc,
// mProf_Free)

#ifndef MPROF_RT_HEAP_EVENT_H
#define MPROF_RT_HEAP_EVENT_H

#include "sys/base.h"

// Whose blocks an entry file has. Of the first nothing is known.
enum mprof_family { MPROF_FAMILY_OTHER, MPROF_FAMILY_C, MPROF_FAMILY_CXX };

// What events do besides counting: bits, in one byte, so that where there is
// nothing to do they look once. Written at start, and in a forked child.
enum { MPROF_ALSO_HEAPX = 1, MPROF_ALSO_LOG = 2 };
extern unsigned char mprof_events_also;
static inline bool mprof_events_do_more(void) {
  return mprof_unlikely(mprof_events_also != 0);
}
static inline bool mprof_events_log(void) {
  return mprof_unlikely((mprof_events_also & MPROF_ALSO_LOG) != 0);
}
// At start, and in a forked child that is profiled or not.
void mprof_events_init(void);
void mprof_events_init_child(bool is_profiled);

struct mprof_alloc_event {
  void *ptr;
  size_t size;
  uint64_t rate;   // that the sample was chosen at
  uintptr_t frame; // frame address of the entry
  bool is_placed;  // the block lies on a page boundary for the masks' sake
  enum mprof_family family;
};
// Counts a block. What cannot be counted is counted as lost.
void mprof_event_alloc(const struct mprof_alloc_event *ev);

// Takes a block out of the profile before its allocator may give the address
// to another thread. The result is for one of the two calls below; 0 if the
// block is not a counted one.
struct mprof_released {
  uint32_t bucket; // handle
  bool is_placed;
  // With the option heapx, else 0; see heapx.h.
  bool is_last;
  size_t slack;
};
struct mprof_released mprof_event_release(void *ptr);
// The block is gone: counts its free. (Go: mProf_Free; explicit, so in C+2)
void mprof_event_freed(struct mprof_released r);
// Both at once, of a block that is about to be freed.
struct mprof_released mprof_event_free(void *ptr);
// The block was resized to size bytes and is at moved_to now: counts its free;
// NULL: it was freed by that. countdown: the thread's before the site took size
// off it.
void mprof_event_resized(struct mprof_released r, const void *ptr,
                         const void *moved_to, size_t size, int64_t countdown);
// The block stays: its reallocation failed.
void mprof_event_kept(struct mprof_released r, void *ptr);

// The same for blocks of the program's own allocators, which are told from the
// heap's at the same addresses. ptr is not NULL.
struct mprof_custom_place {
  uintptr_t arena; // address that names the block's arena, 0 if it is in none
  bool is_outer;   // a block that the allocator had of another stays counted
};
void mprof_event_custom_alloc(const struct mprof_alloc_event *ev,
                              const struct mprof_custom_place *place);
struct mprof_released mprof_event_custom_release(void *ptr);
void mprof_event_custom_kept(struct mprof_released r, void *ptr);
// Counts the frees of all blocks of an arena.
void mprof_event_arena_reset(const void *arena);

#endif // MPROF_RT_HEAP_EVENT_H
