// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts events in MEM buckets (the buckets of the heap profile), makes the
// cells of shards, and flushes the counters when a cycle ends. counts.h
// explains shards, cells, flushes and cycles.

#include "bucket/counts.h"

#include "bucket/bucket.h"
#include "bucket/heapx.h"
#include "options/flags.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <string.h>

// Returns the node with the handle *handle. If *handle is 0 and `make` is true,
// first makes a node. Returns NULL if *handle stays 0.
static MPROF_NOINLINE struct mprof_cell_line *line_of(_Atomic uint32_t *handle,
                                                      bool make) {
  uint32_t h = atomic_load_explicit(handle, memory_order_acquire);
  if (mprof_likely(h != 0) || !make)
    return mprof_persistent_pointer(h);
  void *mine = mprof_persistent_try_alloc(sizeof(struct mprof_cell_line));
  return mine ? mprof_persistent_publish(handle, mine) : NULL;
}

struct mprof_bucket *mprof_cell_handle_bucket(uint32_t handle) {
  const struct mprof_cell *c = mprof_persistent_pointer(handle);
  return c ? mprof_cell_bucket(c) : NULL;
}

static struct mprof_cell *cell_at(_Atomic uint32_t *handle) {
  return mprof_persistent_pointer(
      atomic_load_explicit(handle, memory_order_acquire));
}

// Returns the place of the handle of a shard's cell in b, in a node of b's
// list. Returns NULL if the list has no such node and none is made.
static MPROF_NOINLINE _Atomic uint32_t *place_of(struct mprof_bucket *b,
                                                 unsigned shard, bool make) {
  MPROF_ASSERT(shard > 0 && shard <= MPROF_OWN_SHARDS + MPROF_COMMON_SHARDS);
  struct mprof_cell_line *line = line_of(&b->cells, make);
  unsigned at = shard - 1;
  for (; line && at >= MPROF_CELLS_A_LINE; at -= MPROF_CELLS_A_LINE)
    line = line_of(&line->next, make);
  return line ? &line->cells[at] : NULL;
}

struct mprof_cell *mprof_cell_of(struct mprof_bucket *b, unsigned shard) {
  _Atomic uint32_t *place = place_of(b, shard, false);
  return place ? cell_at(place) : NULL;
}

struct mprof_cell *mprof_cell_after(struct mprof_bucket *b, unsigned *shard) {
  if (atomic_load_explicit(&b->cells, memory_order_relaxed) == 0)
    return NULL;
  while (*shard < MPROF_OWN_SHARDS + MPROF_COMMON_SHARDS) {
    struct mprof_cell *cell = mprof_cell_of(b, ++*shard);
    if (cell)
      return cell;
  }
  return NULL;
}

// Makes a cell in b for the calling thread's shard. A thread that has only
// freed blocks may have no shard yet. This function then first registers the
// thread, which gives it a shard, unless the thread is exiting or holds a lock
// of the runtime.
static MPROF_NOINLINE void want_cell(struct mprof_bucket *b) {
  if (mprof_tls.shard == 0 && !mprof_tls.is_exiting && mprof_tls.held == 0)
    mprof_thread_self(false);
  const unsigned shard = mprof_tls.shard;
  size_t size = sizeof(struct mprof_cell);
  if (mprof_heapx_is_on())
    size += sizeof(struct mprof_heapx_cell);
  _Atomic uint32_t *place = shard ? place_of(b, shard, true) : NULL;
  if (!place || cell_at(place))
    return;
  struct mprof_cell *mine = mprof_persistent_try_alloc(size);
  if (!mine)
    return;
  mprof_cell_init(mine, b, mprof_shard_owner());
  mprof_persistent_publish(place, mine);
}

static _Atomic uint64_t *counter_of(struct mprof_mem_cycle *c, bool is_free) {
  return is_free ? &c->frees : &c->allocs;
}

void mprof_count_elsewhere(struct mprof_cell *c, unsigned index, bool is_free) {
  MPROF_ASSERT(mprof_tls.guard != 0 && index < 3);
  struct mprof_bucket *b = mprof_cell_bucket(c);
  struct mprof_cell *mine = mprof_cell_mine(b);
  if (mprof_likely(mine != NULL)) {
    _Atomic uint64_t *n = counter_of(&mine->cycles[index], is_free);
    if (mprof_likely(mine->shard == mprof_tls.shard))
      mprof_count_plain(n);
    else
      atomic_fetch_add_explicit(n, 1, memory_order_release);
    return;
  }
  uint64_t before = atomic_fetch_add_explicit(
      counter_of(&b->mem.shared[index], is_free), 1, memory_order_release);
  if (mprof_unlikely((before + 1) % MPROF_CELL_FROM == 0))
    want_cell(b);
}

// --- flush ---

static uint64_t read_count(struct mprof_mem_cycle *c, bool is_free) {
  return atomic_load_explicit(counter_of(c, is_free), memory_order_acquire);
}

// Returns the number of events that were counted in b since the bucket was
// made, for one index of the cycle machine. Counts frees if is_free is true,
// otherwise allocations.
static MPROF_NOINLINE uint64_t sum_of(struct mprof_bucket *b, unsigned index,
                                      bool is_free) {
  uint64_t sum = read_count(&b->mem.own.cycles[index], is_free) +
                 read_count(&b->mem.shared[index], is_free);
  struct mprof_cell_line *line = line_of(&b->cells, false);
  for (; line; line = line_of(&line->next, false)) {
#pragma clang loop unroll(disable) // most lines have few cells
    for (unsigned i = 0; i < MPROF_CELLS_A_LINE; i++) {
      struct mprof_cell *cell = cell_at(&line->cells[i]);
      if (cell)
        sum += read_count(&cell->cycles[index], is_free);
    }
  }
  return sum;
}

static void publish(struct mprof_bucket *b, unsigned index, bool is_free) {
  _Atomic uint64_t *taken = counter_of(&b->mem.taken[index], is_free);
  _Atomic uint64_t *active = counter_of(&b->mem.active, is_free);
  const uint64_t sum = sum_of(b, index, is_free);
  MPROF_ASSERT(sum >= atomic_load(taken)); // no counter decreases
  mprof_count_publish(sum, taken, active);
}

// Publishes the heapx counters first, then frees, then allocations. A block's
// allocation is counted before its free. So if this function reads the count of
// a free, it also reads the count of the block's allocation afterwards. No
// profile can therefore show more frees than allocations.
static void publish_locked(struct mprof_bucket *b, unsigned index) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_ACTIVE));
  MPROF_ASSERT(b->type == MPROF_BUCKET_MEM && index < 3);
  if (mprof_heapx_is_on())
    mprof_heapx_publish_locked(b, index);
  publish(b, index, true);
  publish(b, index, false);
}

// --- the cycle machine ---

// Go takes a lock for each shared[i]. MProf needs no such locks, because a
// flush publishes each event exactly once, even if other threads count events
// during the flush. If a thread reads the cycle number just before the cycle
// ends, the thread's event is counted one cycle early. Go has the same
// inaccuracy.

struct mprof_lock mprof_active_lock = MPROF_LOCK_INIT(MPROF_RANK_ACTIVE);

struct mprof_cycle mprof_cycle;
static atomic_int cycle_owner; // enum mprof_cycle_owner; never decreases

uint32_t mprof_cycle_word(void) { return atomic_load(&mprof_cycle.word); }
void mprof_cycle_set_word(uint32_t word) {
  MPROF_ASSERT(word >> 1 < MPROF_CYCLE_WRAP);
  atomic_store(&mprof_cycle.word, word);
}

// (Go: mProfCycleHolder.increment)
void mprof_cycle_advance(void) {
  unsigned prev = atomic_load(&mprof_cycle.word);
  unsigned next;
  do
    next = ((prev >> 1) + 1) % MPROF_CYCLE_WRAP << 1;
  while (!atomic_compare_exchange_weak(&mprof_cycle.word, &prev, next));
}

// Sets the flag `flushed` of the current cycle, and stores the cycle's number
// in *cycle. Returns whether the flag was already set. (Go:
// mProfCycleHolder.setFlushed)
static bool set_flushed(uint32_t *cycle) {
  unsigned prev = atomic_fetch_or(&mprof_cycle.word, 1);
  *cycle = prev >> 1;
  return prev & 1;
}

void mprof_cycle_publish_index_locked(unsigned index) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_ACTIVE));
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (; b; b = b->allnext)
    publish_locked(b, index);
}

void mprof_cycle_publish_all_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_ACTIVE));
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (; b; b = b->allnext)
    for (unsigned i = 0; i < 3; i++)
      publish_locked(b, i);
}

static void flush_index(unsigned index) {
  mprof_lock_acquire(&mprof_active_lock);
  mprof_cycle_publish_index_locked(index);
  mprof_lock_release(&mprof_active_lock);
}

void mprof_cycle_publish_due(void) {
  uint32_t cycle;
  if (!set_flushed(&cycle))
    flush_index(cycle % 3);
}

void mprof_cycle_publish_swept(void) {
  flush_index((mprof_cycle_read() + 1) % 3);
}

void mprof_cycle_publish(void) {
  uint32_t cycle;
  set_flushed(&cycle);
  mprof_lock_acquire(&mprof_active_lock);
  // Publishes the counters of two indices in one walk over the buckets, because
  // a program may call this function thousands of times per second.
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (; b; b = b->allnext)
    for (unsigned i = cycle; i <= cycle + 1; i++)
      publish_locked(b, i % 3);
  mprof_lock_release(&mprof_active_lock);
}

void mprof_cycle_claim(enum mprof_cycle_owner owner) {
  int seen = atomic_load_explicit(&cycle_owner, memory_order_relaxed);
  while (seen < (int)owner &&
         !atomic_compare_exchange_weak(&cycle_owner, &seen, owner))
    ;
}

bool mprof_cycle_dump_ends_it(bool is_exit) {
  int owner = atomic_load_explicit(&cycle_owner, memory_order_relaxed);
  return !mprof_flags.strict_cycles && owner != MPROF_CYCLE_COLLECTOR &&
         (is_exit || owner == MPROF_CYCLE_NOBODY);
}

enum mprof_cycle_owner mprof_cycle_as_of(void) {
  return mprof_cycle_dump_ends_it(true)
             ? MPROF_CYCLE_NOBODY
             : atomic_load_explicit(&cycle_owner, memory_order_relaxed);
}

bool mprof_cycle_is_missing(void) {
  return mprof_flags.strict_cycles &&
         atomic_load_explicit(&cycle_owner, memory_order_relaxed) ==
             MPROF_CYCLE_NOBODY;
}

void mprof_cycle_reset(void) {
  mprof_lock_reset(&mprof_active_lock);
  mprof_cycle_set_word(0);
  atomic_store(&cycle_owner, MPROF_CYCLE_NOBODY);
}

// Ends the cycle and publishes its events. If the caller is a signal handler
// that has interrupted the profiler, the guard is set, and this call publishes
// nothing. The next call then publishes these events, because
// mprof_cycle_publish publishes the events of the last two cycles. Because of
// such a delay, even a program without a collector needs three sets of
// counters: two for the ended cycles and one for the current cycle.
MPROF_PUBLIC void mprof_next_cycle(void) {
  mprof_cycle_claim(MPROF_CYCLE_PROGRAM);
  mprof_cycle_advance();
  if (!mprof_guard_enter())
    return;
  mprof_cycle_publish();
  mprof_guard_leave();
}

MPROF_PUBLIC void mprof_cycle_flush(void) {
  if (!mprof_guard_enter())
    return;
  mprof_cycle_publish_due();
  mprof_guard_leave();
}

MPROF_PUBLIC void mprof_cycle_post_sweep(void) {
  if (!mprof_guard_enter())
    return;
  mprof_cycle_publish_swept();
  mprof_guard_leave();
}
