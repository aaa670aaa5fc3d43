// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts heap allocations and frees, and passes them to the heapx counters, the
// allocation log and the trace. (Go: mProf_Malloc, mProf_Free) The steps of an
// event are:
//
//   allocation: unwind -> bucket -> cell -> live map -> count
//   free:       live map -> cell -> count
//
// A cell has the thread's counters in the bucket (counts.h). The live map finds
// the cell that has counted a block by the block's address.
// The stack is unwound and hashed before any lock is taken. An allocation
// usually takes a lock only to insert a new bucket. A free usually takes no
// lock. Only blocks at unusual addresses also need the lock of a hash table
// (livemap.h).

#include "heap/event.h"

#include "bucket/bucket.h"
#include "bucket/bucket_at.h"
#include "bucket/counts.h"
#include "bucket/cycle.h"
#include "bucket/heapx.h"
#include "bucket/peak.h"
#include "bucket/scale.h"
#include "heap/alloc_log.h"
#include "heap/custom_blocks.h"
#include "heap/livemap.h"
#include "heap/page_placement.h"
#include "mprof/mprof.h"
#include "sys/abi_words.h"
#include "sys/flags.h"
#include "sys/mul_div.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "sys/usdt.h"
#include "thread/threads.h"
#include "trace_hooks/trace_hooks.h"

MPROF_USDT_DATA union mprof_event_watch mprof_event_watch = {.any = 0};

void mprof_events_init(void) {
  const int observers = (mprof_flags.heapx ? MPROF_OBSERVES_HEAPX : 0) |
                        (mprof_flags.peak ? MPROF_OBSERVES_PEAK : 0) |
                        (mprof_alloc_log_init() ? MPROF_OBSERVES_LOG : 0);
  if (observers != 0) // usually, the page stays untouched
    mprof_event_watch.observers = (unsigned char)observers;
}

void mprof_events_init_child(bool is_profiled) {
  bool had_log = mprof_events_log();
  if (had_log)
    mprof_event_watch.observers &= ~MPROF_OBSERVES_LOG;
  mprof_alloc_log_leave();
  if (had_log && is_profiled && mprof_alloc_log_start_in_child())
    mprof_event_watch.observers |= MPROF_OBSERVES_LOG;
}

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
  mprof_count_free(mprof_cell_for_free(cell), mprof_cycle_explicit_index());
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

// Counts a free as count_free does, and also for the peak.
static void count_free_and_peak(uint32_t handle) {
  count_free(handle);
  if (mprof_peak_is_on())
    mprof_peak_free(mprof_cell_handle_bucket(handle));
}

// Counts an event that is lost because the guard is set. The events of the
// runtime's own threads are not lost, because no profile shows these threads.
static MPROF_NOINLINE void count_reentrant(void) {
  if (!mprof_tls.is_own)
    mprof_stat_add(MPROF_STAT_reentrant, 1);
}

static MPROF_NOINLINE void count_stale(uint32_t handle) {
  count_free_and_peak(handle);
  if (mprof_heapx_is_on()) {
    struct mprof_bucket *b = mprof_cell_handle_bucket(handle);
    struct mprof_heapx_end e = {.slack = mprof_heapx_usual_slack(b)};
    mprof_heapx_free(b, &e, false);
  }
  mprof_stat_add(MPROF_STAT_stale, 1);
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

// Passes the allocation of a counted block to the heapx counters, the
// allocation log, the counters of the peak and the probe.
static MPROF_NOINLINE void do_more(struct mprof_bucket *b, const void *ptr,
                                   bool has_slack, enum mprof_log_kind kind) {
  if (mprof_heapx_is_on())
    mprof_heapx_alloc(b, ptr, has_slack);
  if (mprof_events_log())
    mprof_alloc_log_alloc(b, ptr, kind);
  if (mprof_peak_is_on())
    mprof_peak_alloc(b);
  if (kind == MPROF_LOG_HEAP)
    probe_alloc(b, ptr);
}

static void record(const struct mprof_alloc_event *ev) {
  // With the option stack_depth=0, no block is counted. (Go: profstackdepth 0)
  if (mprof_flags.stack_depth == 0)
    return;
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_cell *c = t ? cell_of(t, ev) : NULL;
  uint32_t stale = 0;
  // If there is no memory for the thread's record, the bucket or the live map,
  // the event is already counted as lost. The block must not be counted in this
  // case, because its free could not be counted: without an entry in the live
  // map, the runtime does not recognize the block.
  if (!c ||
      !mprof_live_put((uintptr_t)ev->ptr, mprof_persistent_handle(c), &stale)) {
    if (mprof_heapx_is_on())
      mprof_heapx_alloc(NULL, ev->ptr, false);
    return;
  }
  if (mprof_unlikely(stale != 0))
    count_stale(stale);
  count_alloc(c);
  if (mprof_events_do_more())
    do_more(mprof_cell_bucket(c), ev->ptr, is_measured(ev->family),
            MPROF_LOG_HEAP);
}

void mprof_event_alloc(const struct mprof_alloc_event *ev) {
  if (!ev->ptr)
    return;
  if (!mprof_guard_enter()) {
    count_reentrant();
    return;
  }
  record(ev);
  mprof_guard_leave();
}

static inline struct mprof_released take(void *ptr) {
  struct mprof_released r = {.cell = 0};
  uintptr_t addr = (uintptr_t)ptr;
  if (mprof_likely(!mprof_live_needs_guard(addr))) {
    r.cell = mprof_live_take(addr);
  } else if (mprof_guard_enter()) {
    r.cell = mprof_live_take(addr);
    mprof_guard_leave();
  } else {
    count_reentrant();
  }
  return r;
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

static MPROF_NOINLINE void note_release(struct mprof_released *r,
                                        const void *ptr,
                                        enum mprof_log_kind kind) {
  const struct mprof_bucket *b = mprof_cell_handle_bucket(r->cell);
  if (mprof_heapx_is_on() && b) {
    r->is_last = mprof_heapx_is_last(ptr);
    r->slack = mprof_heapx_slack(b, ptr);
  }
  if (mprof_events_log())
    log_free(b, ptr, kind);
  if (b && kind == MPROF_LOG_HEAP)
    probe_free(ptr);
}

struct mprof_released mprof_event_release(void *ptr) {
  struct mprof_released r = take(ptr);
  if (mprof_events_do_more())
    note_release(&r, ptr, MPROF_LOG_HEAP);
  return r;
}

static void count_end(uint32_t handle) {
  if (mprof_guard_enter()) {
    count_free(handle);
    mprof_guard_leave();
  } else {
    mprof_count_free_inside(mprof_persistent_known(handle),
                            mprof_cycle_explicit_index());
  }
}

static MPROF_NOINLINE void count_peak_end(uint32_t handle) {
  struct mprof_bucket *b = mprof_cell_handle_bucket(handle);
  if (mprof_guard_enter()) {
    mprof_peak_free(b);
    mprof_guard_leave();
  } else {
    mprof_peak_free_inside(b);
  }
}

// Describes the resize or free of a block.
struct resize {
  const void *from, *to; // old and new address of the block; free: to is NULL
  size_t size;           // new size
  int64_t countdown;     // sampling countdown before the resize or free
};

static MPROF_NOINLINE void count_heapx_end(const struct mprof_released *r,
                                           const struct resize *how) {
  struct mprof_heapx_end e = {.is_last = r->is_last,
                              .slack = r->slack,
                              .countdown = how->countdown,
                              .is_resized = how->to != NULL,
                              .is_moved = how->to != how->from,
                              .size = how->size};
  bool is_inside = !mprof_guard_enter();
  mprof_heapx_free(mprof_cell_handle_bucket(r->cell), &e, is_inside);
  if (!is_inside)
    mprof_guard_leave();
}

// Counts the free of a block, and passes it to the heapx counters and the
// allocation log. This is a separate function, so that the common path of
// mprof_event_free does not save registers for this code.
static MPROF_NOINLINE void free_and_more(void *ptr) {
  mprof_event_freed(mprof_event_release(ptr));
}

void mprof_event_free(void *ptr) {
  if (mprof_events_do_more()) {
    free_and_more(ptr);
    return;
  }
  struct mprof_released r = take(ptr);
  if (mprof_likely(r.cell != 0))
    count_end(r.cell);
}

void mprof_event_freed(struct mprof_released r) {
  if (!r.cell)
    return;
  count_end(r.cell);
  if (mprof_peak_is_on())
    count_peak_end(r.cell);
  if (mprof_heapx_is_on()) {
    struct resize how = {.countdown = __mprof_heap_countdown};
    count_heapx_end(&r, &how);
  }
}

void mprof_event_resized(struct mprof_released r, const void *ptr,
                         const void *moved_to, size_t size, int64_t countdown) {
  if (!r.cell)
    return;
  count_end(r.cell);
  if (mprof_peak_is_on())
    count_peak_end(r.cell);
  if (mprof_heapx_is_on()) {
    struct resize how = {ptr, moved_to, size, countdown};
    count_heapx_end(&r, &how);
  }
}

// Reverts the effect of note_release on the heapx counters and the allocation
// log, because the block stays allocated.
static MPROF_NOINLINE void take_back(struct mprof_released r, const void *ptr,
                                     enum mprof_log_kind kind) {
  if (r.is_last)
    mprof_heapx_is_last_again(ptr);
  if (mprof_events_log())
    mprof_alloc_log_alloc(mprof_cell_handle_bucket(r.cell), ptr, kind);
  if (kind == MPROF_LOG_HEAP)
    probe_alloc(mprof_cell_handle_bucket(r.cell), ptr);
}

void mprof_event_kept(struct mprof_released r, void *ptr) {
  uint32_t stale;
  bool is_known = false;
  if (!r.cell)
    return;
  // Insert the block again. A tree of the live map needs no memory for this,
  // because the block's slot has existed since the allocation. If this thread
  // is in a signal handler that interrupted the runtime, the guard is set, and
  // the block is not inserted again.
  if (mprof_guard_enter()) {
    is_known = mprof_live_put((uintptr_t)ptr, r.cell, &stale);
    if (is_known && mprof_events_do_more())
      take_back(r, ptr, MPROF_LOG_HEAP);
    mprof_guard_leave();
  } else {
    count_reentrant();
  }
  // A block that is not in the live map would count as in use for ever, because
  // its later free would not be recognized.
  if (!is_known)
    mprof_event_freed(r);
}

// --- blocks of the program's own allocators ---

static void record_custom(const struct mprof_alloc_event *ev,
                          const struct mprof_alloc_owner *place) {
  if (mprof_flags.stack_depth == 0)
    return;
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_cell *c = t ? cell_of(t, ev) : NULL;
  struct mprof_custom_block block = {.addr = (uintptr_t)ev->ptr,
                                     .arena = place->arena,
                                     .cell = mprof_persistent_handle(c),
                                     .is_outer = place->is_outer};
  bool is_known = c && mprof_custom_put(&block, count_stale);
  if (is_known)
    count_alloc(c);
  if (!mprof_events_do_more())
    return;
  if (is_known)
    do_more(mprof_cell_bucket(c), ev->ptr, false, MPROF_LOG_CUSTOM);
  else if (mprof_heapx_is_on())
    mprof_heapx_alloc(NULL, ev->ptr, false);
}

void mprof_event_custom_alloc(const struct mprof_alloc_event *ev,
                              const struct mprof_alloc_owner *place) {
  if (!mprof_guard_enter()) {
    count_reentrant();
    return;
  }
  record_custom(ev, place);
  mprof_guard_leave();
}

struct mprof_released mprof_event_custom_release(void *ptr) {
  struct mprof_released r = {.cell = 0};
  if (mprof_guard_enter()) {
    r.cell = mprof_custom_take((uintptr_t)ptr);
    mprof_guard_leave();
  } else {
    count_reentrant();
  }
  if (mprof_events_do_more())
    note_release(&r, ptr, MPROF_LOG_CUSTOM);
  return r;
}

void mprof_event_custom_kept(struct mprof_released r, void *ptr) {
  struct mprof_custom_block block = {
      .addr = (uintptr_t)ptr, .cell = r.cell, .is_outer = true};
  bool is_known = false;
  if (!r.cell)
    return;
  if (mprof_guard_enter()) {
    is_known = mprof_custom_put(&block, count_stale);
    if (is_known && mprof_events_do_more())
      take_back(r, ptr, MPROF_LOG_CUSTOM);
    mprof_guard_leave();
  } else {
    count_reentrant();
  }
  if (!is_known)
    mprof_event_freed(r);
}

static void count_gone(uintptr_t addr, uint32_t handle) {
  (void)addr;
  count_free_and_peak(handle);
}

static void count_and_log_gone(uintptr_t addr, uint32_t handle) {
  count_free_and_peak(handle);
  mprof_alloc_log_free(mprof_cell_handle_bucket(handle), (const void *)addr,
                       MPROF_LOG_CUSTOM, 0);
}

// This function must be in the section of the runtime's entries, because
// mprof_entry_frame looks for a frame of this section. The entry that calls
// this function may make a tail call and so have no frame. In this case
// mprof_entry_frame finds the frame of this function.
MPROF_TEXT_SECTION void mprof_event_arena_reset(const void *arena) {
  if (mprof_guard_enter()) {
    mprof_custom_empty((uintptr_t)arena,
                       mprof_events_log() ? count_and_log_gone : count_gone);
    mprof_guard_leave();
  } else {
    count_reentrant();
  }
}
