// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts events in MEM buckets (the buckets of the heap profile), makes the
// cells of shards, and flushes the counters. counts.h explains shards, cells
// and flushes.

#include "bucket/counts.h"

#include "bucket/bucket.h"
#include "bucket/heapx.h"
#include "sys/assert.h"
#include "sys/lock.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "thread/shards.h"
#include "thread/threads.h"

#include <string.h>

// Stores the handle (a 32-bit number that stands for an address, see
// sys/persistent.h) of the new object `mine` in *handle. If another thread has
// stored the handle of an object meanwhile, returns that object.
static void *publish_new(_Atomic uint32_t *handle, void *mine) {
  uint32_t h = 0;
  if (atomic_compare_exchange_strong(handle, &h, mprof_persistent_handle(mine)))
    return mine;
  return mprof_persistent_pointer(h);
}

// Returns the node with the handle *handle. If *handle is 0 and `make` is true,
// first makes a node. Returns NULL if *handle stays 0.
static MPROF_NOINLINE struct mprof_cell_line *line_of(_Atomic uint32_t *handle,
                                                      bool make) {
  uint32_t h = atomic_load_explicit(handle, memory_order_acquire);
  if (mprof_likely(h != 0) || !make)
    return mprof_persistent_pointer(h);
  void *mine = mprof_persistent_try_alloc(sizeof(struct mprof_cell_line));
  return mine ? publish_new(handle, mine) : NULL;
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
  publish_new(place, mine);
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
      counter_of(&b->mem.future[index], is_free), 1, memory_order_release);
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
                 read_count(&b->mem.future[index], is_free);
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
void mprof_counts_publish_locked(struct mprof_bucket *b, unsigned index) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_ACTIVE));
  MPROF_ASSERT(b->type == MPROF_BUCKET_MEM && index < 3);
  if (mprof_heapx_is_on())
    mprof_heapx_publish_locked(b, index);
  publish(b, index, true);
  publish(b, index, false);
}
