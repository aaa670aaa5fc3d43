// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes the events of the heap to observers; see observers.h. These functions
// are no part of the fast paths of events without observers.

#include "heap/observers.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/heapx.h"
#include "bucket/peak.h"
#include "heap/event.h"
#include "lock_wait/lock_order.h"
#include "options/flags.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/persistent.h"
#include "sys/scale.h"
#include "sys/tls.h"
#include "sys/usdt.h"

#include <malloc.h>

#pragma weak malloc_usable_size

MPROF_USDT_DATA union mprof_event_watch mprof_event_watch = {.any = 0};

void mprof_observe_init(void) {
  const bool has_log = mprof_alloc_log_init();
  if (!mprof_flags.heapx && !mprof_flags.peak && !has_log &&
      !mprof_flags.lock_order)
    return; // usually, the page stays untouched
  mprof_event_watch.has_heapx = mprof_flags.heapx;
  mprof_event_watch.has_peak = mprof_flags.peak;
  mprof_event_watch.has_log = has_log;
  mprof_event_watch.has_order = mprof_flags.lock_order;
  if (mprof_flags.peak)
    mprof_peak_begin();
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

// Returns when the released block was allocated, or 0 if that is unknown.
static uint64_t take_birth(const void *ptr, enum mprof_log_kind kind) {
  if (!mprof_guard_enter())
    return 0;
  const uint64_t birth = mprof_births_take(ptr, kind == MPROF_LOG_CUSTOM);
  mprof_guard_leave();
  return birth;
}

// Returns the lifetime of a block that ends now, in nanoseconds, at least 1.
// Returns 0 if it is unknown, because birth is 0. mprof_clock_ns would measure
// the speed of the clock at each call.
static uint64_t life_since(uint64_t birth) {
  static _Atomic uint64_t known_speed;
  if (birth == 0)
    return 0;
  uint64_t speed = atomic_load_explicit(&known_speed, memory_order_relaxed);
  if (mprof_unlikely(speed == 0)) {
    speed = mprof_clock_ticks_per_second();
    atomic_store_explicit(&known_speed, speed, memory_order_relaxed);
  }
  const uint64_t now = mprof_clock_about();
  const uint64_t ns =
      now > birth ? mprof_mul_div(now - birth, 1000000000, speed, 0) : 0;
  return ns ? ns : 1;
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
  if (mprof_event_watch.has_heapx)
    mprof_births_put(ptr, kind == MPROF_LOG_CUSTOM, mprof_clock_about());
  if (mprof_event_watch.has_log)
    mprof_alloc_log_alloc(b, ptr, kind);
  if (mprof_event_watch.has_peak)
    mprof_peak_alloc(b);
  if (kind == MPROF_LOG_HEAP)
    probe_alloc(b, ptr);
}

// Returns the size of a block that is about to be freed. If it is unknown,
// returns the size of the part in which a lock is most probable.
static size_t size_of(const void *ptr, enum mprof_log_kind kind) {
  enum { USUAL = 64 };
  return kind == MPROF_LOG_HEAP && mprof_place.measures
             ? malloc_usable_size((void *)ptr)
             : USUAL;
}

MPROF_NOINLINE void mprof_observe_release(struct mprof_released *r,
                                          const void *ptr,
                                          enum mprof_log_kind kind) {
  const struct mprof_bucket *b = mprof_cell_handle_bucket(r->cell);
  if (mprof_event_watch.has_order)
    mprof_order_freed((uintptr_t)ptr, size_of(ptr, kind));
  if (mprof_event_watch.has_heapx && b) {
    const size_t slack = mprof_heapx_slack(b, ptr);
    r->is_last = mprof_heapx_is_last(ptr);
    r->slack = slack < INT32_MAX ? slack & INT32_MAX : INT32_MAX;
    r->birth = take_birth(ptr, kind);
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
  if (r->birth)
    mprof_births_put(ptr, kind == MPROF_LOG_CUSTOM, r->birth);
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

MPROF_NOINLINE void mprof_observe_end(const struct mprof_released *r,
                                      const struct mprof_resize *how) {
  struct mprof_bucket *b = mprof_cell_handle_bucket(r->cell);
  const struct mprof_heapx_end e = {.is_last = r->is_last,
                                    .slack = r->slack,
                                    .life_ns = life_since(r->birth),
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
    struct mprof_heapx_end e = {.slack = mprof_heapx_usual_slack(b)};
    if (ptr)
      e.life_ns = life_since(mprof_births_take(ptr, kind == MPROF_LOG_CUSTOM));
    mprof_heapx_free(b, &e, false);
  }
  if (mprof_event_watch.has_log && ptr)
    mprof_alloc_log_free(b, ptr, kind, frame);
}

void mprof_observe_collection(uintptr_t frame) {
  if (mprof_event_watch.has_log)
    mprof_alloc_log_collection(frame);
}

// --- births ---
//
// Remembers when the counted blocks in use were allocated. See observers.h.

// A block in a hash table. A record whose block was freed is used again.
struct birth {
  struct birth *next;
  uintptr_t key; // address << 1 | is_custom
  uint64_t ticks;
};

// The table has parts with a lock each, so that threads rarely wait. A part
// doubles its chains when it has more blocks than chains. The old chains are
// lost, which together are smaller than the new ones.
enum { PART_BITS = 6, PARTS = 1 << PART_BITS, FIRST_CHAINS = 64, BATCH = 64 };

struct part {
  _Alignas(64) struct mprof_lock lock;
  // The fields below are guarded by lock.
  struct birth **chains;
  size_t chain_count; // a power of 2
  size_t count;       // of blocks
  struct birth *unused;
};

#define EIGHT(x) x, x, x, x, x, x, x, x
#define PART {.lock = MPROF_LOCK_INIT(MPROF_RANK_BIRTHS)}
static struct part parts[PARTS] = {EIGHT(PART), EIGHT(PART), EIGHT(PART),
                                   EIGHT(PART), EIGHT(PART), EIGHT(PART),
                                   EIGHT(PART), EIGHT(PART)};

static uintptr_t key_of(const void *ptr, bool is_custom) {
  return (uintptr_t)ptr << 1 | is_custom;
}

static uint64_t hash_of(uintptr_t key) {
  return key * UINT64_C(0x9e3779b97f4a7c15);
}

static struct part *part_of(uintptr_t key) {
  return &parts[hash_of(key) >> (64 - PART_BITS)];
}

// Returns the link to the block, or the link at the end of its chain.
static struct birth **find_locked(struct part *p, uintptr_t key) {
  struct birth **at = &p->chains[hash_of(key) >> 24 & (p->chain_count - 1)];
  while (*at && (*at)->key != key)
    at = &(*at)->next;
  return at;
}

static void move_locked(struct part *p, struct birth **old, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (struct birth *b = old[i], *next; b; b = next) {
      next = b->next;
      b->next = NULL;
      *find_locked(p, b->key) = b;
    }
}

// Makes room for one block more. Returns false if there is no memory. If there
// is none for more chains, the chains become longer.
static bool make_room_locked(struct part *p) {
  if (p->count == p->chain_count) {
    struct birth **old = p->chains;
    const size_t before = p->chain_count;
    const size_t count = before ? 2 * before : FIRST_CHAINS;
    struct birth **chains =
        mprof_persistent_try_alloc(count * sizeof(struct birth *));
    if (chains) {
      p->chains = chains;
      p->chain_count = count;
      move_locked(p, old, before);
    }
  }
  if (p->chains && !p->unused) {
    struct birth *batch =
        mprof_persistent_try_alloc(BATCH * sizeof(struct birth));
    for (int i = 0; batch && i < BATCH; i++) {
      batch[i].next = p->unused;
      p->unused = &batch[i];
    }
  }
  return p->chains && p->unused;
}

static void put_locked(struct part *p, uintptr_t key, uint64_t ticks) {
  struct birth **at = p->chains ? find_locked(p, key) : NULL;
  if (at && *at) {
    (*at)->ticks = ticks;
    return;
  }
  if (!make_room_locked(p))
    return;
  struct birth *b = p->unused;
  p->unused = b->next;
  *b = (struct birth){.key = key, .ticks = ticks};
  *find_locked(p, key) = b;
  p->count++;
}

static uint64_t take_locked(struct part *p, uintptr_t key) {
  struct birth **at = p->chains ? find_locked(p, key) : NULL;
  struct birth *b = at ? *at : NULL;
  if (!b)
    return 0;
  *at = b->next;
  b->next = p->unused;
  p->unused = b;
  p->count--;
  return b->ticks;
}

void mprof_births_put(const void *ptr, bool is_custom, uint64_t ticks) {
  const uintptr_t key = key_of(ptr, is_custom);
  struct part *p = part_of(key);
  mprof_lock_acquire(&p->lock);
  put_locked(p, key, ticks);
  mprof_lock_release(&p->lock);
}

uint64_t mprof_births_take(const void *ptr, bool is_custom) {
  const uintptr_t key = key_of(ptr, is_custom);
  struct part *p = part_of(key);
  mprof_lock_acquire(&p->lock);
  const uint64_t ticks = take_locked(p, key);
  mprof_lock_release(&p->lock);
  return ticks;
}

void mprof_births_reset(void) {
  for (int i = 0; i < PARTS; i++) {
    mprof_lock_reset(&parts[i].lock);
    parts[i].chains = NULL;
    parts[i].chain_count = parts[i].count = 0;
    parts[i].unused = NULL;
  }
}
