// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the heap profile of the peak. See peak.h.

#include "bucket/peak.h"

#include "bucket/bucket.h"
#include "bucket/curve.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/persistent.h"
#include "sys/scale.h"

struct mprof_lock mprof_peak_lock = MPROF_LOCK_INIT(MPROF_RANK_PEAK);

static struct {
  // Estimated bytes that are in use now. Guarded by peak_lock.
  int64_t inuse;
  struct mprof_peak last;   // guarded by peak_lock
  uint64_t number;          // number of the last peak; guarded by peak_lock
  struct mprof_curve curve; // of inuse; guarded by peak_lock
  // True if a bucket may have a number in the field `inside`. Atomic.
  atomic_bool has_inside;
} heap;

static struct mprof_peak_counts *counts_of(struct mprof_bucket *b) {
  MPROF_ASSERT(b->type == MPROF_BUCKET_MEM);
  return (struct mprof_peak_counts *)b - 1;
}

// Copies the counts of a bucket if it had no event since the last peak.
static void keep_counts_at_peak(struct mprof_peak_counts *c) {
  if (c->peak == heap.number)
    return;
  c->at_peak = c->now;
  // A process that is killed here leaves valid counts in the file of the option
  // persist, and so between the other stores of this file.
  atomic_signal_fence(memory_order_release);
  c->peak = heap.number;
  atomic_signal_fence(memory_order_release);
}

// Counts the frees of signal handlers in all buckets at once, so that the next
// peak has the bytes in use and the counts of the same moment. This is slow,
// but such frees are very rare, because signal handlers must not call free.
static MPROF_NOINLINE void settle(void) {
  atomic_store(&heap.has_inside, false); // before the fields are read
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (; b; b = b->allnext) {
    struct mprof_peak_counts *c = counts_of(b);
    const uint64_t frees = atomic_exchange(&c->inside, 0);
    if (frees == 0)
      continue;
    keep_counts_at_peak(c);
    c->now.frees += frees;
    heap.inuse -= (int64_t)frees * c->weight;
  }
}

// Prepares b for an event. Returns the counts.
static struct mprof_peak_counts *begin_event(struct mprof_bucket *b) {
  struct mprof_peak_counts *c = counts_of(b);
  if (mprof_unlikely(
          atomic_load_explicit(&heap.has_inside, memory_order_relaxed)))
    settle();
  keep_counts_at_peak(c);
  if (mprof_unlikely(c->weight == 0))
    c->weight =
        mprof_scale_up(b->size, 1, mprof_scale_factor(b->size, b->rate));
  return c;
}

// Stores the number of the peak in the file of the option persist.
static void persist_number(void) {
  struct mprof_persist_head *h = mprof_persist_head;
  if (h == NULL)
    return;
  __atomic_store_n(&h->peak_ticks, heap.last.ticks, __ATOMIC_RELAXED);
  __atomic_store_n(&h->peak_number, heap.number, __ATOMIC_RELEASE);
}

// Returns the time of the change.
static uint64_t add_to_inuse(int64_t bytes) {
  const int64_t before = heap.inuse;
  const uint64_t now = mprof_clock_about();
  heap.inuse += bytes;
  mprof_curve_add(&heap.curve, now, before, heap.inuse);
  return now;
}

void mprof_peak_alloc(struct mprof_bucket *b) {
  mprof_lock_acquire(&mprof_peak_lock);
  struct mprof_peak_counts *c = begin_event(b);
  c->now.allocs++;
  const uint64_t now = add_to_inuse(c->weight);
  if (heap.inuse > heap.last.bytes) {
    heap.number++;
    heap.last.bytes = heap.inuse;
    heap.last.ticks = now;
    persist_number();
  }
  mprof_lock_release(&mprof_peak_lock);
}

void mprof_peak_free(struct mprof_bucket *b) {
  mprof_lock_acquire(&mprof_peak_lock);
  struct mprof_peak_counts *c = begin_event(b);
  c->now.frees++;
  add_to_inuse(-c->weight);
  mprof_lock_release(&mprof_peak_lock);
}

// The weight is known, because the block's allocation has set it.
void mprof_peak_free_inside(struct mprof_bucket *b) {
  atomic_fetch_add(&counts_of(b)->inside, 1);
  atomic_store(&heap.has_inside, true);
}

struct mprof_peak mprof_peak_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PEAK));
  return heap.last;
}

int64_t mprof_peak_curve(struct mprof_curve *curve) {
  mprof_lock_acquire(&mprof_peak_lock);
  if (heap.curve.len > 0)
    add_to_inuse(0);
  *curve = heap.curve;
  const int64_t inuse = heap.inuse;
  mprof_lock_release(&mprof_peak_lock);
  return inuse;
}

struct mprof_peak_pair mprof_peak_of_locked(struct mprof_bucket *b) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PEAK));
  const struct mprof_peak_counts *c = counts_of(b);
  return c->peak == heap.number ? c->at_peak : c->now;
}

void mprof_peak_begin(void) {
  heap.curve = (struct mprof_curve){.begin = mprof_clock_about()};
}

void mprof_peak_reset(void) {
  mprof_lock_reset(&mprof_peak_lock);
  heap.inuse = 0;
  heap.last = (struct mprof_peak){0, 0};
  heap.number = 0;
  if (mprof_peak_is_on())
    mprof_peak_begin();
  atomic_store(&heap.has_inside, false);
}
