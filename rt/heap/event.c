// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides which heap allocations are counted, counts them and their frees, and
// passes the events to the trace and to observers. (Go: profilealloc,
// mProf_Malloc, mProf_Free) The steps of an event are:
//
//   allocation: decision -> unwind -> bucket -> cell -> live map -> count
//               -> observers
//   free:       live map -> cell -> observers -> count -> observers
//
// A cell has the thread's counters in the bucket (bucket.h). The live map finds
// the cell that has counted a block by the block's address.
//
// The stack is unwound and hashed before any lock is taken. An allocation
// usually takes a lock only to insert a new bucket. A free usually takes no
// lock. Only blocks at unusual addresses also need the lock of a hash table
// (livemap.c).

#include "heap/heap.h"

#include "bucket/bucket.h"
#include "bucket/heapx.h"
#include "bucket/peak.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/lock.h"
#include "sys/persistent.h"
#include "sys/scale.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "sys/usdt.h"
#include "thread/threads.h"
#include "trace/trace_events.h"
#include "unwind/unwind.h"

// --- sampling ---
//
// Sample points form a Poisson process over the bytes that a thread allocates.
// The mean distance of the points is the rate, R bytes. A block of s bytes is
// counted if at least one point lies in the block. The probability of this is
//   p(s) = 1 - exp(-s / R)
// Each counted block represents 1 / p(s) blocks of its size. Writers scale the
// counts by this factor, so that the expected counts equal the true counts. The
// factor is exact for each bucket, because all blocks of a bucket have the same
// size and rate. (Go: nextSample, scaleHeapSample)
//
// Each thread has a countdown, which is the distance to the thread's next
// point. The distance is drawn from the exponential distribution by inversion:
//   d = -ln(q) * R, with q uniform in (0, 1]           (Go: fastexprand)
// Each call site subtracts the size of its block from the countdown. The block
// with which the countdown reaches 0 or less is counted. A new distance is then
// drawn, which begins at the end of this block. This is correct although the
// point lies inside the block, because the exponential distribution has no
// memory.
//
// Two rates are special: rate 0 counts no block, and rate 1 counts each block
// (exact mode).
//
// A block is not counted if it is memory for a block of an outer allocator that
// has taken part in the sampling already. Examples are the program's own
// allocators with -fmprof-nested=outermost, and the program's own operator new
// if malloc is intercepted.

// The sampling rate and its epoch, which is the number of changes of the rate.
// Both fields are written under registry_lock and read without a lock. The
// epoch is written last, so that a thread that reads the new epoch also reads
// the new rate.
static struct {
  // Each event reads the rate if the rate is 1. Therefore this struct begins a
  // cache line, so that no data that is often written is in the same line.
  _Alignas(64) _Atomic uint64_t rate;
  _Atomic uint64_t epoch; // 0 before the runtime has started
} sampling;

uint64_t mprof_sample_rate(void) {
  return atomic_load_explicit(&sampling.rate, memory_order_relaxed);
}

// Element i is log2(1 + i / 32) * 2^31. (Go: fastlog2Table)
static const uint32_t log2_table[33] = {
    0,          95335645,   187825021,  277633165,  364911162,  449797678,
    532420281,  612896598,  691335320,  767837083,  842495250,  915396590,
    986621888,  1056246482, 1124340739, 1190970490, 1256197405, 1320079339,
    1382670639, 1444022426, 1504182841, 1563197273, 1621108567, 1677957208,
    1733781493, 1788617686, 1842500157, 1895461516, 1947532725, 1998743213,
    2049120974, 2098692655, 2147483648,
};

// Returns log2(v) * 2^31 for v from 1 to 2^26. The result is the exponent of v
// plus the logarithm of its mantissa, which is interpolated in log2_table. (Go:
// fastlog2)
static uint64_t fast_log2(uint32_t v) {
  const unsigned exponent = 31 - (unsigned)__builtin_clz(v);
  // 32 * (mantissa - 1): the upper 5 bits, and 26 bits of the fraction.
  const uint32_t at = (v << (31 - exponent)) & 0x7fffffff;
  const uint64_t low = log2_table[at >> 26];
  const uint64_t step = log2_table[(at >> 26) + 1] - low;
  return ((uint64_t)exponent << 31) + low + (step * (at & 0x3ffffff) >> 26);
}

int64_t mprof_sample_next(uint64_t rate, uint32_t random26) {
  const uint64_t ln2 = UINT64_C(12786308645202655659); // ln(2) * 2^64
  if (rate <= 1)
    return 0;
  // The result is -ln(q) * rate with q = (random26 + 1) / 2^26, computed from
  // log2(q). The product is below 2^64, because rate is at most MPROF_MAX_RATE.
  const uint64_t log = (UINT64_C(26) << 31) - fast_log2(random26 + 1);
  return (int64_t)((uint64_t)((mprof_u128)(log * rate) * ln2 >> 64) >> 31) + 1;
}

// Returns a new countdown for a rate. For rate 0 this is INT64_MAX, so that no
// block is counted. For rate 1 it is 0. For any other rate it is a random
// distance to the next sample.
static int64_t draw(uint64_t rate) {
  if (rate == 0)
    return INT64_MAX;
  if (rate == 1)
    return 0; // counts each allocation, even one of 0 bytes
  return mprof_sample_next(rate, (uint32_t)(mprof_thread_random() >> 38));
}

// Stores in the thread's record that this thread has drawn a countdown for the
// sampling rate with version number `epoch`. After a change of the rate,
// mprof_threads_interrupt waits until each thread has stored the new epoch or
// has the countdown 0. Also registers the thread if needed, so that
// mprof_threads_interrupt finds the thread's countdown.
static MPROF_NOINLINE void note_epoch(uint64_t epoch) {
  mprof_tls.rate_epoch = epoch;
  if (mprof_guard_enter()) {
    struct mprof_thread *t = mprof_thread_self(false);
    if (t)
      atomic_store(&t->rate_epoch, epoch);
    else if (!mprof_process_is_own()) // the parent's thread registers later
      mprof_tls.rate_epoch = 0;
    mprof_guard_leave();
  }
}

// --- nested allocations ---

// Returns whether the function with the frame address `nested` is on the stack
// of the calling thread, of which `frame` is a frame.
static bool is_on_stack(uintptr_t nested, uintptr_t frame) {
  // If the guard is already set, a signal handler has interrupted the runtime.
  // The handler's event is lost in any case, so the result does not matter.
  if (!mprof_guard_enter())
    return true;
  struct mprof_thread *t = mprof_thread_self(false);
  bool is_there = t && mprof_stack_has_frame(&t->range, frame, nested,
                                             __mprof_nested_return);
  mprof_guard_leave();
  return is_there;
}

// Returns whether the function with the frame address __mprof_nested_frame is
// still active. `frame` is the frame address of a function of the runtime that
// it has called.
//
// An allocator that is left by longjmp or by an exception does not clear
// __mprof_nested_frame. A comparison of addresses cannot detect such a stale
// frame address, because the address may be above all frames from which the
// thread allocates later. So the stack is unwound. The frame is active only if
// it is on the stack and has the return address in __mprof_nested_return. The
// return address is compared, because a later frame of another function may
// have the same frame address.
static MPROF_NOINLINE bool is_active(uintptr_t frame) {
  uintptr_t nested = __mprof_nested_frame;
  if (frame < nested && is_on_stack(nested, frame))
    return true;
  __mprof_nested_frame = 0;
  return false;
}

// Returns whether the current allocation is nested, so that its block is part
// of another block. The outermost allocation call stores its frame address in
// __mprof_nested_frame and its return address in __mprof_nested_return, and
// clears __mprof_nested_frame when it returns. frame: see is_active.
static inline bool is_nested(uintptr_t frame) {
  return mprof_unlikely(__mprof_nested_frame != 0) && is_active(frame);
}

// --- the decision ---

// Returns whether a block of `size` bytes is counted. Sets the countdown to the
// distance to the next sample, and *rate to the sampling rate. epoch: version
// number of the rate, which the caller has read before the call.
static bool decide(size_t size, uint64_t epoch, uint64_t *rate) {
  *rate = mprof_sample_rate();
  bool is_hit = true;
  if (mprof_unlikely(mprof_tls.rate_epoch != epoch)) {
    // This is the thread's first allocation, or its first allocation since the
    // rate changed. The old countdown does not belong to the new rate. So draw
    // a new countdown and compare it with the size of the block.
    int64_t left = draw(*rate);
    is_hit = (uint64_t)size >= (uint64_t)left;
    if (!is_hit)
      __mprof_heap_countdown = left - (int64_t)size;
  }
  if (is_hit)
    __mprof_heap_countdown = draw(*rate);
  return is_hit && *rate != 0;
}

bool mprof_sample_hit(size_t size, uint64_t *rate) {
  if (mprof_unlikely(size > PTRDIFF_MAX)) {
    // No block can be this large. The subtraction at the call site has
    // overflowed, so undo the subtraction.
    __mprof_heap_countdown += (int64_t)size;
    return false;
  }
  if (__mprof_heap_countdown > 0)
    return false;
  if (mprof_unlikely(!mprof_process_ready())) {
    __mprof_heap_countdown = mprof_process_is_inert() ? INT64_MAX : 0;
    return false;
  }
  for (;;) {
    uint64_t epoch =
        atomic_load_explicit(&sampling.epoch, memory_order_acquire);
    bool is_new = mprof_tls.rate_epoch != epoch;
    bool is_hit = decide(size, epoch, rate);
    if (mprof_unlikely(is_new))
      note_epoch(epoch);
    // Check the epoch again. Another thread may have set a new rate before
    // `decide` stored the countdown. In this case, `decide` has overwritten the
    // 0 that mprof_threads_interrupt stored to request a new countdown.
    atomic_signal_fence(memory_order_seq_cst);
    if (mprof_likely(atomic_load_explicit(&sampling.epoch,
                                          memory_order_acquire) == epoch))
      // A nested allocation is not counted, because its block is part of
      // another block. The countdown that was drawn above stays valid, because
      // a Poisson process has no memory.
      return is_hit && !is_nested((uintptr_t)__builtin_frame_address(0));
  }
}

uint64_t mprof_sample_set_rate(uint64_t rate) {
  if (rate > MPROF_MAX_RATE)
    rate = MPROF_MAX_RATE;
  mprof_lock_acquire(&mprof_registry_lock);
  uint64_t before = mprof_sample_rate();
  mprof_place_set_masks(rate);
  atomic_store(&sampling.rate, rate);
  uint64_t epoch = atomic_fetch_add(&sampling.epoch, 1) + 1;
  __mprof_heap_countdown = 0;
  mprof_threads_interrupt(epoch);
  mprof_lock_release(&mprof_registry_lock);
  return before;
}

void mprof_sample_init(uint64_t rate) {
  mprof_place_set_masks(rate);
  atomic_store(&sampling.rate, rate);
  atomic_store(&sampling.epoch, 1);
}

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
