// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes the events of the heap to observers: the heapx counters, the counters
// of the peak, the allocation log, and the probes of other tools.

#ifndef MPROF_RT_HEAP_OBSERVERS_H
#define MPROF_RT_HEAP_OBSERVERS_H

#include "heap/alloc_log.h"
#include "sys/base.h"

struct mprof_bucket;
struct mprof_released;

// Who observes events. If the word is 0, an event is only counted. The read is
// not atomic, because the compiler would need one instruction more. Each event
// is a call, so it reads the word anew.
union mprof_event_watch {
  uint64_t any;
  struct {
    // Written at start and in a forked child.
    bool has_heapx, has_peak, has_log, has_order;
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
// mprof_is_observed returns true. Call them with the recursion guard set,
// except mprof_observe_release and mprof_observe_end.

// A block was allocated. b: its bucket, or NULL if it could not be counted.
// is_measured: whether malloc_usable_size may be called for the block.
void mprof_observe_alloc(struct mprof_bucket *b, const void *ptr,
                         enum mprof_log_kind kind, bool is_measured);
// The block at ptr was removed from the live map, and its address is not yet
// free. r->cell: the block's cell; 0 if it was not counted. Sets the other
// fields of *r.
void mprof_observe_release(struct mprof_released *r, const void *ptr,
                           enum mprof_log_kind kind);
// Describes the resize or free of a block.
struct mprof_resize {
  const void *from, *to; // old and new address of the block; free: to is NULL
  size_t size;           // new size
  int64_t countdown;     // sampling countdown before the resize or free
};
// The released block *r was freed or resized. Call this with the guard clear,
// unless the caller is a signal handler that has interrupted the runtime.
void mprof_observe_end(const struct mprof_released *r,
                       const struct mprof_resize *how);
// The block at ptr, which was released, stays allocated, because its
// reallocation has failed.
void mprof_observe_kept(const struct mprof_released *r, const void *ptr,
                        enum mprof_log_kind kind);
// A block has gone without a call that frees this block. ptr: its address, or
// NULL if this was noticed later, when the address had another block. frame:
// see mprof_alloc_log_free.
void mprof_observe_gone(uint32_t cell, const void *ptr,
                        enum mprof_log_kind kind, uintptr_t frame);
// A garbage collection has ended.
void mprof_observe_collection(uintptr_t frame);

// --- times of allocations (observers.c) ---
//
// Remembers when the counted blocks in use were allocated, for the lifetimes in
// the heapx profile. Without the option heapx, no block is remembered.

// Call these functions with the recursion guard set. is_custom: whether the
// block is one of the program's own allocators; such a block may have the
// address of a block of the heap.

// Remembers that the block at ptr was allocated at this time, in ticks
// (clock.h). If a block at ptr is known already, its free was not seen, and the
// new block replaces it. Without memory, the lifetime of the block will be
// unknown.
void mprof_births_put(const void *ptr, bool is_custom, uint64_t ticks);
// Forgets the block at ptr. Returns when it was allocated, or 0 if that is
// unknown.
uint64_t mprof_births_take(const void *ptr, bool is_custom);
// Forgets all blocks, in a forked child.
void mprof_births_reset(void);

#endif // MPROF_RT_HEAP_OBSERVERS_H
