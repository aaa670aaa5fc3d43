// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts heap events. The runtime's entries call these functions when a block
// is allocated, freed or resized. An event is counted in the block's bucket and
// passed to the trace and to observers: the heapx counters, the counters of the
// peak, the allocation log, and the probes of other tools. (Go: mProf_Malloc,
// mProf_Free)
//
// The callers need not set the recursion guard. If the guard is already set,
// the caller is a signal handler that has interrupted the runtime. An
// allocation in this handler is counted as lost.

#ifndef MPROF_RT_HEAP_EVENT_H
#define MPROF_RT_HEAP_EVENT_H

#include "heap/alloc_log.h"
#include "sys/base.h"

// The family of functions that allocated a block. C: malloc and related
// functions. CXX: operator new. OTHER: any other function.
enum mprof_family { MPROF_FAMILY_OTHER, MPROF_FAMILY_C, MPROF_FAMILY_CXX };

struct mprof_alloc_event {
  void *ptr;
  size_t size;
  uint64_t rate;   // heap_rate at which the sample was chosen
  uintptr_t frame; // frame address of the runtime's entry
  enum mprof_family family;
};
// Counts the allocation of a block. If the block cannot be counted, counts the
// event as lost.
void mprof_event_alloc(const struct mprof_alloc_event *ev);

// mprof_event_release removes the block at ptr from the live map and returns
// facts about it. Call this function before the allocator can give the block's
// address to another thread. Then pass the result to mprof_event_freed,
// mprof_event_resized or mprof_event_kept. If the block is not counted,
// `cell` is 0.
struct mprof_released {
  uint32_t cell; // handle of the cell that has counted the block (counts.h)
  // Only for observers, the heapx counters: the results of mprof_heapx_is_last
  // and mprof_heapx_slack for the block (heapx.h). 0 if the option heapx is
  // off.
  bool is_last;
  size_t slack;
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
void mprof_event_custom_alloc(const struct mprof_alloc_event *ev,
                              const struct mprof_alloc_owner *owner);
struct mprof_released mprof_event_custom_release(void *ptr);
void mprof_event_custom_kept(struct mprof_released r, void *ptr);
// Counts the frees of all blocks of an arena. Call this when the program resets
// the arena.
void mprof_event_arena_reset(const void *arena);

// --- observers ---

// Who observes events. If the word is 0, an event is only counted. The read is
// not atomic, because the compiler would need one instruction more. Each event
// is a call, so it reads the word anew.
union mprof_event_watch {
  uint64_t any;
  struct {
    // Written at start and in a forked child.
    bool has_heapx, has_peak, has_log;
    // Semaphores of the probes otel_memory:alloc and otel_memory:free (usdt.h):
    // numbers of the tools that observe these probes. Written by the kernel.
    _Alignas(4) uint16_t alloc_probes;
    uint16_t free_probes;
  };
};
extern MPROF_HIDDEN union mprof_event_watch mprof_event_watch;
static inline bool mprof_is_observed(void) {
  return mprof_unlikely(mprof_event_watch.any != 0);
}
// Set mprof_event_watch. Call mprof_observe_init at start. Call
// mprof_observe_init_child in a forked child; is_profiled tells whether the
// child is profiled.
void mprof_observe_init(void);
void mprof_observe_init_child(bool is_profiled);

// Pass an event to the observers. Call these functions only if
// mprof_is_observed returns true, and, except mprof_observe_release, with the
// recursion guard set.

// A block was allocated. b: its bucket, or NULL if it could not be counted.
// is_measured: whether malloc_usable_size may be called for the block.
void mprof_observe_alloc(struct mprof_bucket *b, const void *ptr,
                         enum mprof_log_kind kind, bool is_measured);
// The block at ptr was removed from the live map, and its address is not yet
// free. r->cell: the block's cell; 0 if it was not counted. Sets the other
// fields of *r.
void mprof_observe_release(struct mprof_released *r, const void *ptr,
                           enum mprof_log_kind kind);
// The block at ptr, which was released, stays allocated, because its
// reallocation has failed.
void mprof_observe_kept(const struct mprof_released *r, const void *ptr,
                        enum mprof_log_kind kind);
// A block has gone without a call that frees this block. ptr: its address, or
// NULL if this was noticed later, when the address had another block. frame:
// see alloc_log.h.
void mprof_observe_gone(uint32_t cell, const void *ptr,
                        enum mprof_log_kind kind, uintptr_t frame);
// A garbage collection has ended.
void mprof_observe_collection(uintptr_t frame);

#endif // MPROF_RT_HEAP_EVENT_H
