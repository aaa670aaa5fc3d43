// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the heap profile of the peak. See peak.h.

#include "bucket/peak.h"

#include "bucket/bucket.h"
#include "bucket/scale.h"
#include "sys/assert.h"
#include "sys/clock.h"
#include "sys/lock.h"

struct mprof_lock mprof_peak_lock = MPROF_LOCK_INIT(MPROF_RANK_PEAK);

static struct {
  // Estimated bytes that are in use now. Guarded by peak_lock.
  int64_t inuse;
  struct mprof_peak last; // guarded by peak_lock
  uint64_t number;        // number of the last peak; guarded by peak_lock
  // Estimated bytes that are not yet subtracted from inuse, because they were
  // freed in signal handlers that had interrupted the runtime. Atomic.
  _Atomic int64_t inside;
} heap;

static struct mprof_peak_counts *counts_of(struct mprof_bucket *b) {
  MPROF_ASSERT(b->type == MPROF_BUCKET_MEM);
  return (struct mprof_peak_counts *)b - 1;
}

// Adds the frees of signal handlers to the counts of a bucket.
static void settle(struct mprof_peak_counts *c) {
  if (mprof_unlikely(atomic_load_explicit(&c->inside, memory_order_relaxed)))
    c->now.frees += atomic_exchange(&c->inside, 0);
}

// Prepares b for an event: if this is the first event of b since the last peak,
// copies the counts of b. Returns the counts.
static struct mprof_peak_counts *begin_event(struct mprof_bucket *b) {
  struct mprof_peak_counts *c = counts_of(b);
  if (c->peak != heap.number) {
    c->at_peak = c->now;
    c->peak = heap.number;
  }
  settle(c);
  if (mprof_unlikely(c->weight == 0))
    c->weight =
        (int64_t)((double)b->size * mprof_scale_factor(b->size, b->rate));
  if (mprof_unlikely(atomic_load_explicit(&heap.inside, memory_order_relaxed)))
    heap.inuse -= atomic_exchange(&heap.inside, 0);
  return c;
}

void mprof_peak_alloc(struct mprof_bucket *b) {
  mprof_lock_acquire(&mprof_peak_lock);
  struct mprof_peak_counts *c = begin_event(b);
  c->now.allocs++;
  heap.inuse += c->weight;
  if (heap.inuse > heap.last.bytes) {
    heap.number++;
    heap.last.bytes = heap.inuse;
    heap.last.ticks = mprof_clock_about();
  }
  mprof_lock_release(&mprof_peak_lock);
}

void mprof_peak_free(struct mprof_bucket *b) {
  mprof_lock_acquire(&mprof_peak_lock);
  struct mprof_peak_counts *c = begin_event(b);
  c->now.frees++;
  heap.inuse -= c->weight;
  mprof_lock_release(&mprof_peak_lock);
}

// The weight is known, because the block's allocation has set it.
void mprof_peak_free_inside(struct mprof_bucket *b) {
  struct mprof_peak_counts *c = counts_of(b);
  atomic_fetch_add(&c->inside, 1);
  atomic_fetch_add(&heap.inside, c->weight);
}

struct mprof_peak mprof_peak_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PEAK));
  return heap.last;
}

struct mprof_peak_pair mprof_peak_of_locked(struct mprof_bucket *b) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PEAK));
  struct mprof_peak_counts *c = counts_of(b);
  settle(c);
  return c->peak == heap.number ? c->at_peak : c->now;
}

void mprof_peak_reset(void) {
  mprof_lock_reset(&mprof_peak_lock);
  heap.inuse = 0;
  heap.last = (struct mprof_peak){0, 0};
  heap.number = 0;
  atomic_store(&heap.inside, 0);
}
