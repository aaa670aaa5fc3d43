// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counters of the heapx profile: temporary blocks, resizes and slack. These
// counters are stored in the same way as the counters of the heap profile: in
// own, shared and cells (bucket.h).

#include "bucket/heapx.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "sys/abi_words.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <malloc.h>

// This symbol is weak, because not every libc or allocator has
// malloc_usable_size. The function is called only for blocks of an allocator
// that is known to support it.
#pragma weak malloc_usable_size

// --- counters ---

// The counters to which the calling thread adds an event.
struct place {
  struct mprof_heapx_cycle *at;
  // If true, additions must be atomic. Another thread may be writing the
  // counters, or this thread is in a signal handler whose interrupted code may
  // be writing them.
  bool is_shared;
};

static struct place place_of(struct mprof_bucket *b, bool is_inside) {
  unsigned index = mprof_cycle_explicit_index();
  unsigned shard = mprof_tls.shard;
  struct mprof_heapx_counts *x = mprof_heapx_of(b);
  if (mprof_unlikely(is_inside))
    return (struct place){&x->shared[index], true};
  if (mprof_likely(b->owner == shard))
    return (struct place){&x->own[index], false};
  struct mprof_cell *cell = shard ? mprof_cell_of(b, shard) : NULL;
  if (cell)
    return (struct place){
        &((struct mprof_heapx_cell *)(cell + 1))->cycles[index],
        shard > MPROF_OWN_SHARDS};
  return (struct place){&x->shared[index], true};
}

// Adds n to a counter. The slack of a block (its usable bytes beyond the
// requested size) is added to SLACK at the allocation, and to SLACK_FREED at
// the free. The store has release order, so that no thread reads more slack in
// SLACK_FREED than in SLACK.
static void add(struct place p, enum mprof_heapx_counter which, uint64_t n) {
  _Atomic uint64_t *to = &p.at->n[which];
  if (n == 0)
    return;
  if (p.is_shared)
    atomic_fetch_add_explicit(to, n, memory_order_release);
  else
    atomic_store_explicit(to,
                          atomic_load_explicit(to, memory_order_relaxed) + n,
                          memory_order_release);
}

// --- temporary blocks ---
//
// A block is temporary if the thread that allocated the block also freed it,
// and made no other allocation in between. To detect this, each thread
// remembers its last counted block and the value of its sampling countdown at
// that time. An allocation that is not counted subtracts its size from the
// countdown. If the countdown has changed when the block is freed, the thread
// has allocated in between. With heap_rate=1 the countdown stays 0, but every
// allocation is counted and becomes the last block.
//
// The address alone does not identify a block. Another thread may free this
// thread's last block and allocate a new block at the same address. This thread
// may then free the new block. Two threads that exchange messages do exactly
// that. So a thread that frees any other block than its last block writes a
// mark for the block's address to the table marks[]. A mark has a sequence
// number, so a new mark differs from the old mark. When a thread frees its last
// block, the address must have the same mark as at the allocation.
//
// Several addresses share one slot of the table. If the slot has the mark of
// another address, the mark is ignored, although it may have overwritten a mark
// of the block's address. In this rare case, the block is counted as temporary
// by mistake.

#define MARKS 4096u
#define COUNT_BITS 16
// A mark says that the block at an address was freed. It consists of address <<
// 16 | sequence number. The sequence number makes a new mark differ from the
// slot's previous mark.
static _Atomic uint64_t marks[MARKS];

static _Atomic uint64_t *mark_of(const void *ptr) {
  uint64_t h = (uint64_t)(uintptr_t)ptr * 0x9e3779b97f4a7c15u;
  return &marks[h >> 52];
}
_Static_assert(
    MARKS == 1u << (64 - 52),
    "the shift in mark_of must match the number of elements of marks[]");

// Writes a new mark to the table, which says that the block at ptr was freed.
// The new mark only has to differ from the slot's previous mark. So it does no
// harm if two threads write the same new mark to a slot at the same time.
static void leave_mark(const void *ptr) {
  _Atomic uint64_t *mark = mark_of(ptr);
  uint16_t number =
      (uint16_t)(atomic_load_explicit(mark, memory_order_relaxed) + 1);
  atomic_store_explicit(mark, (uint64_t)(uintptr_t)ptr << COUNT_BITS | number,
                        memory_order_relaxed);
}

static bool has_new_mark(const struct mprof_heapx_last *last) {
  uint64_t now = atomic_load_explicit(mark_of(last->ptr), memory_order_relaxed);
  return now != last->mark &&
         now >> COUNT_BITS ==
             (uint64_t)(uintptr_t)last->ptr << COUNT_BITS >> COUNT_BITS;
}

static void remember(const void *ptr) {
  struct mprof_thread *t = mprof_tls.self;
  if (!t)
    return;
  t->last.ptr = ptr;
  t->last.countdown = __mprof_heap_countdown;
  if (ptr)
    t->last.mark = atomic_load_explicit(mark_of(ptr), memory_order_relaxed);
}

bool mprof_heapx_is_last(const void *ptr) {
  struct mprof_thread *t = mprof_tls.self;
  if (t && t->last.ptr == ptr && !has_new_mark(&t->last)) {
    t->last.ptr = NULL; // another block may soon get the address
    return true;
  }
  leave_mark(ptr);
  return false;
}

void mprof_heapx_is_last_again(const void *ptr) {
  if (mprof_tls.self)
    mprof_tls.self->last.ptr = ptr;
}

static bool is_temporary(const struct mprof_heapx_end *e) {
  return e->is_last && mprof_tls.self &&
         mprof_tls.self->last.countdown == e->countdown;
}

// --- slack ---

size_t mprof_heapx_usual_slack(const struct mprof_bucket *b) {
  uint64_t usual = atomic_load_explicit(&mprof_heapx_of(b)->usual_slack,
                                        memory_order_relaxed);
  return usual == 0 ? 0 : (size_t)(usual - 1);
}

static size_t measure(const struct mprof_bucket *b, const void *ptr) {
  size_t usable = malloc_usable_size((void *)ptr);
  return usable > b->size ? usable - b->size : 0;
}

size_t mprof_heapx_slack(const struct mprof_bucket *b, const void *ptr) {
  bool is_measured = atomic_load_explicit(&mprof_heapx_of(b)->usual_slack,
                                          memory_order_relaxed) != 0;
  return is_measured ? measure(b, ptr) : 0;
}

// --- events ---

void mprof_heapx_alloc(struct mprof_bucket *b, const void *ptr,
                       bool is_measured) {
  remember(b ? ptr : NULL);
  if (!b || !is_measured)
    return;
  size_t slack = measure(b, ptr);
  // All blocks of a bucket have the same size, so the slack rarely changes. The
  // test avoids most writes to usual_slack, which would slow down the other
  // threads that read it.
  _Atomic uint64_t *usual = &mprof_heapx_of(b)->usual_slack;
  if (atomic_load_explicit(usual, memory_order_relaxed) != slack + 1)
    atomic_store_explicit(usual, slack + 1, memory_order_relaxed);
  add(place_of(b, false), MPROF_HEAPX_SLACK, slack);
}

static void count_life(struct mprof_heapx_lives *l, uint64_t ns) {
  const unsigned log2 = 63 - (unsigned)__builtin_clzll(ns);
  const unsigned i = log2 < MPROF_HEAPX_LIVES ? log2 : MPROF_HEAPX_LIVES - 1;
  atomic_fetch_add_explicit(&l->ns, ns, memory_order_relaxed);
  atomic_fetch_add_explicit(&l->n[i], 1, memory_order_relaxed);
}

void mprof_heapx_free(struct mprof_bucket *b, const struct mprof_heapx_end *e,
                      bool is_inside) {
  struct place p = place_of(b, is_inside);
  add(p, MPROF_HEAPX_TEMPORARY, is_temporary(e));
  add(p, MPROF_HEAPX_SLACK_FREED, e->slack);
  if (e->life_ns != 0)
    count_life(&mprof_heapx_of(b)->lives, e->life_ns);
  if (!e->is_resized)
    return;
  add(p, e->is_moved ? MPROF_HEAPX_MOVED : MPROF_HEAPX_IN_PLACE, 1);
  if (e->is_moved)
    add(p, MPROF_HEAPX_COPIED, b->size < e->size ? b->size : e->size);
}

// --- flush ---

static uint64_t sum_of(struct mprof_bucket *b, unsigned index, int which) {
  struct mprof_heapx_counts *x = mprof_heapx_of(b);
  uint64_t sum =
      atomic_load_explicit(&x->own[index].n[which], memory_order_acquire) +
      atomic_load_explicit(&x->shared[index].n[which], memory_order_acquire);
  unsigned shard = 0;
  for (struct mprof_cell *c; (c = mprof_cell_after(b, &shard));) {
    struct mprof_heapx_cell *cell = (struct mprof_heapx_cell *)(c + 1);
    sum += atomic_load_explicit(&cell->cycles[index].n[which],
                                memory_order_acquire);
  }
  return sum;
}

static void publish(struct mprof_bucket *b, unsigned index, int which) {
  struct mprof_heapx_counts *x = mprof_heapx_of(b);
  mprof_count_publish(sum_of(b, index, which), &x->taken[index].n[which],
                      &x->active.n[which]);
}

// Publishes the counters in descending order of their numbers, so that
// SLACK_FREED is published before SLACK. If SLACK were published first, a
// reader could see more slack in freed blocks than in all blocks.
void mprof_heapx_publish_locked(struct mprof_bucket *b, unsigned index) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_ACTIVE));
  for (int which = MPROF_HEAPX_COUNTERS; which-- > 0;)
    publish(b, index, which);
}
