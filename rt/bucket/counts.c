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

// Returns the object with the handle *handle (a 32-bit number that stands for
// its address, see sys/persistent.h). If *handle is 0 and `size` is not 0,
// first allocates an object of `size` bytes and stores its handle in *handle.
// Returns NULL if *handle stays 0.
static void *line_of(_Atomic uint32_t *handle, size_t size) {
  uint32_t h = atomic_load_explicit(handle, memory_order_acquire);
  if (mprof_likely(h != 0) || size == 0)
    return mprof_persistent_pointer(h);
  void *mine = mprof_persistent_try_alloc(size);
  if (!mine)
    return NULL;
  if (atomic_compare_exchange_strong(handle, &h, mprof_persistent_handle(mine)))
    return mine;
  return mprof_persistent_pointer(h); // another thread has stored an object
}

static struct mprof_cell *cell_of(struct mprof_bucket *b, unsigned shard,
                                  size_t cell_size) {
  MPROF_ASSERT(shard > 0 && shard <= MPROF_OWN_SHARDS + MPROF_COMMON_SHARDS);
  size_t line_size = cell_size ? sizeof(struct mprof_cell_line) : 0;
  struct mprof_cell_line *line = line_of(&b->cells, line_size);
  unsigned at = shard - 1;
  for (; line && at >= MPROF_CELLS_A_LINE; at -= MPROF_CELLS_A_LINE)
    line = line_of(&line->next, line_size);
  return line ? line_of(&line->cells[at], cell_size) : NULL;
}

struct mprof_cell *mprof_cell_of(struct mprof_bucket *b, unsigned shard) {
  return cell_of(b, shard, 0);
}

struct mprof_cell *mprof_cell_after(struct mprof_bucket *b, unsigned *shard) {
  if (atomic_load_explicit(&b->cells, memory_order_relaxed) == 0)
    return NULL;
  while (*shard < MPROF_OWN_SHARDS + MPROF_COMMON_SHARDS) {
    struct mprof_cell *cell = cell_of(b, ++*shard, 0);
    if (cell)
      return cell;
  }
  return NULL;
}

// Makes a cell (counters in a cache line of their own) in b for the calling
// thread's shard, because shards without a cell have counted many events in b.
// A thread that has only freed blocks may have no shard yet. This function then
// first registers the thread, which gives it a shard, unless the thread is
// exiting.
static MPROF_NOINLINE void want_cell(struct mprof_bucket *b) {
  if (mprof_tls.shard == 0 && !mprof_tls.is_exiting)
    mprof_thread_self(false);
  size_t size = sizeof(struct mprof_cell);
  if (mprof_heapx_is_on())
    size += sizeof(struct mprof_heapx_cell);
  if (mprof_tls.shard != 0)
    cell_of(b, mprof_tls.shard, size);
}

static _Atomic uint64_t *counter_of(struct mprof_mem_cycle *c, bool is_free) {
  return is_free ? &c->frees : &c->allocs;
}

void mprof_count_elsewhere(struct mprof_bucket *b, unsigned index,
                           bool is_free) {
  MPROF_ASSERT(mprof_tls.guarded && index < 3);
  unsigned shard = mprof_tls.shard;
  struct mprof_cell *cell = shard ? cell_of(b, shard, 0) : NULL;
  if (mprof_likely(cell != NULL)) {
    _Atomic uint64_t *n = counter_of(&cell->cycles[index], is_free);
    if (mprof_unlikely(shard > MPROF_OWN_SHARDS)) {
      atomic_fetch_add_explicit(n, 1, memory_order_release);
      return;
    }
    mprof_count_plain(n);
    mprof_tls.cell_cycles = cell->cycles;
    mprof_tls.cell_bucket = b;
    return;
  }
  uint64_t before = atomic_fetch_add_explicit(
      counter_of(&b->mem.future[index], is_free), 1, memory_order_release);
  if (mprof_unlikely(before >= MPROF_CELL_FROM))
    want_cell(b);
}

// --- flush ---

static uint64_t read_count(struct mprof_mem_cycle *c, bool is_free) {
  return atomic_load_explicit(counter_of(c, is_free), memory_order_acquire);
}

// Returns the number of events that were counted in b since the bucket was
// made, for one index of the cycle machine. Counts frees if is_free is true,
// otherwise allocations.
static uint64_t sum_of(struct mprof_bucket *b, unsigned index, bool is_free) {
  uint64_t sum = read_count(&b->mem.own[index], is_free) +
                 read_count(&b->mem.future[index], is_free);
  struct mprof_cell_line *line = line_of(&b->cells, 0);
  for (; line; line = line_of(&line->next, 0)) {
    for (unsigned i = 0; i < MPROF_CELLS_A_LINE; i++) {
      struct mprof_cell *cell = line_of(&line->cells[i], 0);
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
