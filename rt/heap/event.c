// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts heap allocations and frees, and passes them to the trace and to
// observers. (Go: mProf_Malloc, mProf_Free) The steps of an event are:
//
//   allocation: unwind -> bucket -> cell -> live map -> count -> observers
//   free:       live map -> cell -> observers -> count -> observers
//
// A cell has the thread's counters in the bucket (counts.h). The live map finds
// the cell that has counted a block by the block's address.
// The stack is unwound and hashed before any lock is taken. An allocation
// usually takes a lock only to insert a new bucket. A free usually takes no
// lock. Only blocks at unusual addresses also need the lock of a hash table
// (livemap.h).

#include "heap/event.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/heapx.h"
#include "bucket/peak.h"
#include "heap/livemap.h"
#include "heap/page_placement.h"
#include "options/flags.h"
#include "sys/abi_words.h"
#include "sys/persistent.h"
#include "sys/scale.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "sys/usdt.h"
#include "thread/threads.h"
#include "trace_hooks/trace_hooks.h"

// --- observers ---
//
// These functions stay out of the fast paths of events without observers.

MPROF_USDT_DATA union mprof_event_watch mprof_event_watch = {.any = 0};

void mprof_observe_init(void) {
  const bool has_log = mprof_alloc_log_init();
  if (!mprof_flags.heapx && !mprof_flags.peak && !has_log)
    return; // usually, the page stays untouched
  mprof_event_watch.has_heapx = mprof_flags.heapx;
  mprof_event_watch.has_peak = mprof_flags.peak;
  mprof_event_watch.has_log = has_log;
}

void mprof_observe_init_child(bool is_profiled) {
  const bool had_log = mprof_event_watch.has_log;
  mprof_alloc_log_leave();
  if (had_log)
    mprof_event_watch.has_log = is_profiled && mprof_alloc_log_start_in_child();
}

// The probes of the heap, whose contract is that of OpenTelemetry's profiler:
// otel_memory:alloc(ptr, size, weight) for each sampled block, and
// otel_memory:free(ptr) before the block is freed. weight: the estimated number
// of bytes of all blocks for which the sample stands.
static void probe_alloc(const struct mprof_bucket *b, const void *ptr) {
  if (mprof_likely(mprof_event_watch.alloc_probes == 0))
    return;
  const uint64_t factor = mprof_scale_factor(b->size, b->rate);
  MPROF_USDT_3(
      "otel_memory", "alloc", "mprof_event_watch+4", ptr, (uint64_t)b->size,
      mprof_mul_div(b->size, factor, MPROF_SCALE_ONE, MPROF_SCALE_ONE / 2));
}

static void probe_free(const void *ptr) {
  if (mprof_unlikely(mprof_event_watch.free_probes != 0))
    MPROF_USDT_1("otel_memory", "free", "mprof_event_watch+6", ptr);
}

static void log_free(const struct mprof_bucket *b, const void *ptr,
                     enum mprof_log_kind kind) {
  if (mprof_guard_enter()) {
    mprof_alloc_log_free(b, ptr, kind, 0);
    mprof_guard_leave();
  } else {
    mprof_alloc_log_lose();
  }
}

MPROF_NOINLINE void mprof_observe_alloc(struct mprof_bucket *b, const void *ptr,
                                        enum mprof_log_kind kind,
                                        bool is_measured) {
  if (mprof_event_watch.has_heapx)
    mprof_heapx_alloc(b, ptr, is_measured);
  if (!b)
    return;
  if (mprof_event_watch.has_log)
    mprof_alloc_log_alloc(b, ptr, kind);
  if (mprof_event_watch.has_peak)
    mprof_peak_alloc(b);
  if (kind == MPROF_LOG_HEAP)
    probe_alloc(b, ptr);
}

MPROF_NOINLINE void mprof_observe_release(struct mprof_released *r,
                                          const void *ptr,
                                          enum mprof_log_kind kind) {
  const struct mprof_bucket *b = mprof_cell_handle_bucket(r->cell);
  if (mprof_event_watch.has_heapx && b) {
    r->is_last = mprof_heapx_is_last(ptr);
    r->slack = mprof_heapx_slack(b, ptr);
  }
  if (mprof_event_watch.has_log)
    log_free(b, ptr, kind);
  if (b && kind == MPROF_LOG_HEAP)
    probe_free(ptr);
}

MPROF_NOINLINE void mprof_observe_kept(const struct mprof_released *r,
                                       const void *ptr,
                                       enum mprof_log_kind kind) {
  const struct mprof_bucket *b = mprof_cell_handle_bucket(r->cell);
  if (r->is_last)
    mprof_heapx_is_last_again(ptr);
  if (mprof_event_watch.has_log)
    mprof_alloc_log_alloc(b, ptr, kind);
  if (kind == MPROF_LOG_HEAP)
    probe_alloc(b, ptr);
}

static void count_peak_free(struct mprof_bucket *b, bool is_inside) {
  if (is_inside)
    mprof_peak_free_inside(b);
  else
    mprof_peak_free(b);
}

// Describes the resize or free of a block.
struct resize {
  const void *from, *to; // old and new address of the block; free: to is NULL
  size_t size;           // new size
  int64_t countdown;     // sampling countdown before the resize or free
};

// A released block was freed or resized.
static MPROF_NOINLINE void observe_end(const struct mprof_released *r,
                                       const struct resize *how) {
  struct mprof_bucket *b = mprof_cell_handle_bucket(r->cell);
  const struct mprof_heapx_end e = {.is_last = r->is_last,
                                    .slack = r->slack,
                                    .countdown = how->countdown,
                                    .is_resized = how->to != NULL,
                                    .is_moved = how->to != how->from,
                                    .size = how->size};
  // True in a signal handler that has interrupted the runtime.
  const bool is_inside = !mprof_guard_enter();
  if (mprof_event_watch.has_peak)
    count_peak_free(b, is_inside);
  if (mprof_event_watch.has_heapx)
    mprof_heapx_free(b, &e, is_inside);
  if (!is_inside)
    mprof_guard_leave();
}

MPROF_NOINLINE void mprof_observe_gone(uint32_t cell, const void *ptr,
                                       enum mprof_log_kind kind,
                                       uintptr_t frame) {
  struct mprof_bucket *b = mprof_cell_handle_bucket(cell);
  if (mprof_event_watch.has_peak)
    mprof_peak_free(b);
  if (mprof_event_watch.has_heapx) {
    const struct mprof_heapx_end e = {.slack = mprof_heapx_usual_slack(b)};
    mprof_heapx_free(b, &e, false);
  }
  if (mprof_event_watch.has_log && ptr)
    mprof_alloc_log_free(b, ptr, kind, frame);
}

void mprof_observe_collection(uintptr_t frame) {
  if (mprof_event_watch.has_log)
    mprof_alloc_log_collection(frame);
}

// --- events ---

// Returns the cell in which an allocation is to be counted, or NULL if there is
// no memory.
__attribute__((always_inline)) static inline struct mprof_cell *
cell_of(struct mprof_thread *t, const struct mprof_alloc_event *ev) {
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_MEM,
                                 .labels = mprof_tls.labels,
                                 .size = ev->size,
                                 .rate = ev->rate};
  struct mprof_bucket *b = mprof_bucket_at(t, &key, 0, ev->frame);
  return key.cell || !b ? key.cell : mprof_cell_here(b);
}

static void count_free(uint32_t cell) {
  mprof_count_free(mprof_persistent_known(cell), mprof_cycle_explicit_index());
  if (mprof_unlikely(mprof_trace_is_on()))
    mprof_trace_hooks.heap(mprof_cell_handle_bucket(cell), true);
}

static void count_alloc(struct mprof_cell *c) {
  mprof_count_alloc(c, mprof_cycle_explicit_index());
  if (mprof_unlikely(mprof_trace_is_on()))
    mprof_trace_hooks.heap(mprof_cell_bucket(c), false);
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
record(const struct mprof_alloc_event *ev,
       const struct mprof_alloc_owner *owner) {
  // With the option stack_depth=0, no block is counted. (Go: profstackdepth 0)
  if (mprof_flags.stack_depth == 0)
    return;
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_cell *c = t ? cell_of(t, ev) : NULL;
  // If there is no memory for the thread's record, the bucket or the live map,
  // the event is already counted as lost. The block must not be counted in this
  // case, because its free could not be counted: without an entry in the live
  // map, the runtime does not recognize the block.
  const bool is_known =
      c && (owner ? put_custom(ev->ptr, c, owner) : put(ev->ptr, c));
  if (mprof_likely(is_known))
    count_alloc(c);
  if (mprof_is_observed())
    mprof_observe_alloc(is_known ? mprof_cell_bucket(c) : NULL, ev->ptr,
                        owner ? MPROF_LOG_CUSTOM : MPROF_LOG_HEAP,
                        is_measured(ev->family));
}

void mprof_event_alloc(const struct mprof_alloc_event *ev) {
  if (!ev->ptr)
    return;
  if (!mprof_guard_enter()) {
    count_reentrant();
    return;
  }
  record(ev, NULL);
  mprof_guard_leave();
}

void mprof_event_custom_alloc(const struct mprof_alloc_event *ev,
                              const struct mprof_alloc_owner *owner) {
  if (!mprof_guard_enter()) {
    count_reentrant();
    return;
  }
  record(ev, owner);
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

struct mprof_released mprof_event_release(void *ptr) {
  struct mprof_released r = {.cell = take(ptr)};
  if (mprof_is_observed())
    mprof_observe_release(&r, ptr, MPROF_LOG_HEAP);
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
  if (mprof_is_observed())
    mprof_observe_release(&r, ptr, MPROF_LOG_CUSTOM);
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
    observe_end(&r, &(struct resize){.from = ptr,
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
