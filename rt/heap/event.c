// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts heap allocations and their frees, and passes the events to the trace
// and to observers. (Go: mProf_Malloc, mProf_Free) The steps of an event are:
//
//   allocation: unwind -> bucket -> cell -> live map -> count -> observers
//   free:       live map -> cell -> observers -> count -> observers
//
// A cell has the thread's counters in the bucket (bucket.h). The live map finds
// the cell that has counted a block by the block's address.
//
// The stack is unwound and hashed before any lock is taken. An allocation
// usually takes a lock only to insert a new bucket. A free usually takes no
// lock. Only blocks at unusual addresses also need the lock of a hash table
// (livemap.c).

#include "heap/event.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "heap/alloc_log.h"
#include "heap/livemap.h"
#include "heap/observers.h"
#include "options/flags.h"
#include "sys/lock.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "trace/trace_events.h"

// Returns the cell in which an allocation is to be counted, or NULL if there is
// no memory.
__attribute__((always_inline)) static inline struct mprof_cell *
cell_of(struct mprof_thread *t, const struct mprof_alloc *a) {
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_MEM,
                                 .labels = mprof_tls.labels,
                                 .size = a->size,
                                 .rate = a->rate};
  struct mprof_bucket *b = mprof_bucket_at(t, &key, 0, a->frame);
  return key.cell || !b ? key.cell : mprof_cell_here(b);
}

static void count_free(uint32_t cell) {
  mprof_count_free(mprof_persistent_known(cell), mprof_cycle_explicit_index());
  if (mprof_unlikely(mprof_trace_is_on()))
    mprof_trace_heap(mprof_cell_handle_bucket(cell), true);
}

static void count_alloc(struct mprof_cell *c) {
  mprof_count_alloc(c, mprof_cycle_explicit_index());
  if (mprof_unlikely(mprof_trace_is_on()))
    mprof_trace_heap(mprof_cell_bucket(c), false);
}

static bool is_measured(enum mprof_family family) {
  return (family == MPROF_FAMILY_C && mprof_place.c) ||
         (family == MPROF_FAMILY_CXX && mprof_place.cxx);
}

// Counts an event that is lost because the guard is set. The events of the
// runtime's own threads are not lost, because no profile shows these threads.
static MPROF_NOINLINE void count_reentrant(void) {
  if (!mprof_tls.is_own)
    mprof_stat_add(MPROF_STAT_reentrant, 1);
}

// Counts the free of a block that has gone without a call that frees it; see
// mprof_observe_gone.
static void count_gone(uint32_t cell, const void *ptr) {
  count_free(cell);
  if (mprof_is_observed())
    mprof_observe_gone(cell, ptr, MPROF_LOG_CUSTOM, 0);
}

static MPROF_NOINLINE void count_stale(uint32_t cell) {
  count_gone(cell, NULL);
  mprof_stat_add(MPROF_STAT_stale, 1);
}

// Inserts a block of the heap, whose cell is c, into the live map. Returns
// false if there is no memory.
static inline bool put(const void *ptr, const struct mprof_cell *c) {
  uint32_t stale;
  if (!mprof_live_put((uintptr_t)ptr, mprof_persistent_handle(c), &stale))
    return false;
  if (mprof_unlikely(stale != 0))
    count_stale(stale);
  return true;
}

// Does the same for a block of the program's own allocators.
static MPROF_NOINLINE bool put_custom(const void *ptr,
                                      const struct mprof_cell *c,
                                      const struct mprof_alloc_owner *owner) {
  const struct mprof_custom_block block = {.addr = (uintptr_t)ptr,
                                           .arena = owner->arena,
                                           .cell = mprof_persistent_handle(c),
                                           .is_outer = owner->is_outer};
  return mprof_custom_put(&block, count_stale);
}

// owner: NULL for a block of the heap.
__attribute__((always_inline)) static inline void
record(const struct mprof_alloc *a, void *ptr,
       const struct mprof_alloc_owner *owner) {
  // With the option stack_depth=0, no block is counted. (Go: profstackdepth 0)
  if (mprof_flags.stack_depth == 0)
    return;
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_cell *c = t ? cell_of(t, a) : NULL;
  // If there is no memory for the thread's record, the bucket or the live map,
  // the event is already counted as lost. The block must not be counted in this
  // case, because its free could not be counted: without an entry in the live
  // map, the runtime does not recognize the block.
  const bool is_known = c && (owner ? put_custom(ptr, c, owner) : put(ptr, c));
  if (mprof_likely(is_known))
    count_alloc(c);
  if (mprof_is_observed())
    mprof_observe_alloc(is_known ? mprof_cell_bucket(c) : NULL, ptr,
                        owner ? MPROF_LOG_CUSTOM : MPROF_LOG_HEAP,
                        is_measured(a->family));
}

void *mprof_event_alloc(const struct mprof_alloc *a, void *ptr) {
  if (a->must_place && !MPROF_IS_ON_PAGE(ptr)) {
    mprof_stat_add(MPROF_STAT_place_failed, 1);
    return ptr;
  }
  if (!ptr)
    return NULL;
  if (!mprof_guard_enter()) {
    count_reentrant();
    return ptr;
  }
  record(a, ptr, NULL);
  mprof_guard_leave();
  return ptr;
}

void mprof_event_custom_alloc(const struct mprof_alloc *a, void *ptr,
                              const struct mprof_alloc_owner *owner) {
  if (!mprof_guard_enter()) {
    count_reentrant();
    return;
  }
  record(a, ptr, owner);
  mprof_guard_leave();
}

static inline uint32_t take(void *ptr) {
  uintptr_t addr = (uintptr_t)ptr;
  if (mprof_likely(!mprof_live_needs_guard(addr)))
    return mprof_live_take(addr);
  if (!mprof_guard_enter()) {
    count_reentrant();
    return 0;
  }
  const uint32_t cell = mprof_live_take(addr);
  mprof_guard_leave();
  return cell;
}

// Only the allocation log has frees of blocks that are not counted.
static inline void observe_release(struct mprof_released *r, const void *ptr,
                                   enum mprof_log_kind kind) {
  if (mprof_is_observed() && (r->cell != 0 || mprof_event_watch.has_log ||
                              mprof_event_watch.has_order))
    mprof_observe_release(r, ptr, kind);
}

struct mprof_released mprof_event_release(void *ptr) {
  struct mprof_released r = {.cell = take(ptr)};
  observe_release(&r, ptr, MPROF_LOG_HEAP);
  return r;
}

struct mprof_released mprof_event_custom_release(void *ptr) {
  struct mprof_released r = {.cell = 0};
  if (mprof_guard_enter()) {
    r.cell = mprof_custom_take((uintptr_t)ptr);
    mprof_guard_leave();
  } else {
    count_reentrant();
  }
  observe_release(&r, ptr, MPROF_LOG_CUSTOM);
  return r;
}

static void count_end(uint32_t cell) {
  if (mprof_guard_enter()) {
    count_free(cell);
    mprof_guard_leave();
  } else {
    mprof_count_free_inside(mprof_persistent_known(cell),
                            mprof_cycle_explicit_index());
  }
}

void mprof_event_resized(struct mprof_released r, const void *ptr,
                         const void *moved_to, size_t size, int64_t countdown) {
  if (!r.cell)
    return;
  count_end(r.cell);
  if (mprof_is_observed())
    mprof_observe_end(&r, &(struct mprof_resize){.from = ptr,
                                                 .to = moved_to,
                                                 .size = size,
                                                 .countdown = countdown});
}

void mprof_event_freed(struct mprof_released r) {
  mprof_event_resized(r, NULL, NULL, 0, __mprof_heap_countdown);
}

// This is a separate function, so that the common path of mprof_event_free does
// not save registers for this code.
static MPROF_NOINLINE void free_observed(void *ptr) {
  mprof_event_freed(mprof_event_release(ptr));
}

void mprof_event_free(void *ptr) {
  if (mprof_is_observed()) {
    free_observed(ptr);
    return;
  }
  const uint32_t cell = take(ptr);
  if (mprof_likely(cell != 0))
    count_end(cell);
}

static void free_at(uintptr_t addr) {
  const uint32_t cell = mprof_live_take(addr);
  if (cell)
    count_gone(cell, (const void *)addr);
}

void mprof_event_free_all(void) {
  // The HTTP server's thread has set the guard.
  const bool enters = mprof_guard_enter();
  mprof_live_each(free_at);
  if (enters)
    mprof_guard_leave();
}

static void keep(struct mprof_released r, void *ptr, enum mprof_log_kind kind) {
  static const struct mprof_alloc_owner outer = {.is_outer = true};
  bool is_known = false;
  if (!r.cell)
    return;
  // Insert the block again. A tree of the live map needs no memory for this,
  // because the block's slot has existed since the allocation. If this thread
  // is in a signal handler that interrupted the runtime, the guard is set, and
  // the block is not inserted again.
  if (mprof_guard_enter()) {
    const struct mprof_cell *c = mprof_persistent_known(r.cell);
    is_known =
        kind == MPROF_LOG_CUSTOM ? put_custom(ptr, c, &outer) : put(ptr, c);
    if (is_known && mprof_is_observed())
      mprof_observe_kept(&r, ptr, kind);
    mprof_guard_leave();
  } else {
    count_reentrant();
  }
  // A block that is not in the live map would count as in use for ever, because
  // its later free would not be recognized.
  if (!is_known)
    mprof_event_freed(r);
}

void mprof_event_kept(struct mprof_released r, void *ptr) {
  keep(r, ptr, MPROF_LOG_HEAP);
}

void mprof_event_custom_kept(struct mprof_released r, void *ptr) {
  keep(r, ptr, MPROF_LOG_CUSTOM);
}

static void empty(uintptr_t addr, uint32_t cell) {
  count_gone(cell, (const void *)addr);
}

// This function must be in the section of the runtime's entries, because
// mprof_entry_frame looks for a frame of this section. The entry that calls
// this function may make a tail call and so have no frame. In this case
// mprof_entry_frame finds the frame of this function.
MPROF_TEXT_SECTION void mprof_event_arena_reset(const void *arena) {
  if (mprof_guard_enter()) {
    mprof_custom_empty((uintptr_t)arena, empty);
    mprof_guard_leave();
  } else {
    count_reentrant();
  }
}
