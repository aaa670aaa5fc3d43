// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes snapshots of the heap profile; see snapshot.h. A snapshot is a
// copy of the published counts (`active`) of all buckets, which active_lock
// guards. (Go: memProfileInternal)

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/heapx.h"
#include "bucket/peak.h"
#include "heap/event.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "sys/scale.h"
#include "sys/stats.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <string.h>

static size_t count_locked(struct mprof_bucket *head, bool inuse_zero,
                           bool *clear) {
  size_t n = 0;
  *clear = true;
  for (struct mprof_bucket *b = head; b; b = b->allnext) {
    if (inuse_zero || mprof_active_allocs(b) != mprof_active_frees(b))
      n++;
    if (mprof_active_allocs(b) != 0 || mprof_active_frees(b) != 0)
      *clear = false;
  }
  return n;
}

struct mprof_bucket *mprof_mem_publish_locked(bool inuse_zero, size_t *n) {
  const bool shows_all = mprof_cycle_dump_ends_it(false);
  if (shows_all)
    mprof_cycle_publish_all_locked();
  else
    mprof_cycle_publish_index_locked(mprof_cycle_read() % 3);
  struct mprof_bucket *head = mprof_bucket_first(MPROF_BUCKET_MEM);
  bool clear;
  *n = count_locked(head, inuse_zero, &clear);
  if (clear && !shows_all) {
    mprof_cycle_publish_all_locked();
    *n = count_locked(head, inuse_zero, &clear);
  }
  return head;
}

// Computes some statistics, such as the number of samples, from the profile. If
// each event updated these statistics, each event would need one more atomic
// addition.
static void set_stats(const struct mprof_mem_snapshot *s) {
  uint64_t allocs = 0, frees = 0, cut[3] = {0, 0, 0};
  for (size_t i = 0; i < s->len; i++) {
    allocs += s->samples[i].allocs;
    frees += s->samples[i].frees;
    cut[s->samples[i].bucket->end % 3] += s->samples[i].allocs;
  }
  mprof_stat_set(MPROF_STAT_samples, allocs);
  mprof_stat_set(MPROF_STAT_sample_frees, frees);
  mprof_stat_set(MPROF_STAT_truncated_chain, cut[MPROF_STACK_CUT_CHAIN]);
  mprof_stat_set(MPROF_STAT_truncated_depth, cut[MPROF_STACK_CUT_DEPTH]);
}

static void copy_heapx(struct mprof_heapx_sample *x,
                       const struct mprof_bucket *b) {
  const struct mprof_heapx_cycle *active = &mprof_heapx_of(b)->active;
  x->lives = &mprof_heapx_of(b)->lives;
  for (int i = 0; i < MPROF_HEAPX_COUNTERS; i++)
    x->n[i] = atomic_load_explicit(&active->n[i], memory_order_relaxed);
}

int mprof_mem_snapshot_take(struct mprof_mem_snapshot *s, bool end_cycle) {
  int err = 0;
  memset(s, 0, sizeof(*s));
  s->rate = mprof_sample_rate();
  s->time_ns = mprof_sys_realtime_ns();
  if (end_cycle) {
    mprof_cycle_advance();
    mprof_cycle_publish();
  }
  mprof_lock_acquire(&mprof_active_lock);
  size_t n;
  struct mprof_bucket *b = mprof_mem_publish_locked(true, &n);
  if (n > 0) {
    size_t each = sizeof(s->samples[0]);
    if (mprof_heapx_is_on())
      each += sizeof(s->heapx[0]);
    s->mapped_bytes = n * each;
    s->samples = mprof_os_map(s->mapped_bytes);
    if (!s->samples)
      err = -ENOMEM;
    else if (mprof_heapx_is_on())
      s->heapx = (struct mprof_heapx_sample *)(s->samples + n);
  }
  for (; s->samples && b; b = b->allnext) {
    if (s->heapx)
      copy_heapx(&s->heapx[s->len], b);
    s->samples[s->len++] =
        (struct mprof_mem_sample){.bucket = b,
                                  .allocs = mprof_active_allocs(b),
                                  .frees = mprof_active_frees(b)};
  }
  mprof_lock_release(&mprof_active_lock);
  set_stats(s);
  return err;
}

// Copies the counts at the peak. Returns false if the samples have no room for
// all buckets, which are more than `room`.
static bool copy_peak_locked(struct mprof_mem_snapshot *s, size_t room) {
  struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM);
  for (size_t i = 0; b; b = b->allnext, i++) {
    if (i == room)
      return false;
    const struct mprof_peak_pair n = mprof_peak_of_locked(b);
    if (n.allocs != 0)
      s->samples[s->len++] = (struct mprof_mem_sample){
          .bucket = b, .allocs = n.allocs, .frees = n.frees};
  }
  const uint64_t ticks = mprof_peak_locked().ticks, now = mprof_clock_about();
  s->time_ns = mprof_sys_realtime_ns();
  // The clock of this processor may be a little behind.
  if (ticks != 0 && now > ticks)
    s->time_ns -= (int64_t)mprof_clock_ns(now - ticks);
  return true;
}

// Other threads may add buckets until peak_lock is held. The snapshot must
// contain these buckets, because each of them may have made a new peak. So the
// snapshot has more room than there are buckets, and begins again if the room
// does not suffice.
int mprof_mem_snapshot_take_peak(struct mprof_mem_snapshot *s) {
  for (bool is_complete = false; !is_complete;) {
    memset(s, 0, sizeof(*s));
    s->rate = mprof_sample_rate();
    const size_t room = 64 + mprof_bucket_count(MPROF_BUCKET_MEM);
    s->mapped_bytes = (room + room / 4) * sizeof(s->samples[0]);
    s->samples = mprof_os_map(s->mapped_bytes);
    if (!s->samples)
      return -ENOMEM;
    mprof_lock_acquire(&mprof_peak_lock);
    is_complete = copy_peak_locked(s, room + room / 4);
    mprof_lock_release(&mprof_peak_lock);
    if (!is_complete)
      mprof_mem_snapshot_free(s);
  }
  return 0;
}

void mprof_mem_snapshot_free(struct mprof_mem_snapshot *s) {
  if (s->samples)
    mprof_os_unmap(s->samples, s->mapped_bytes);
  memset(s, 0, sizeof(*s));
}

// --- estimates ---

static uint64_t factor_of(const struct mprof_mem_sample *s) {
  return mprof_scale_factor(s->bucket->size, s->bucket->rate);
}

struct mprof_mem_estimate mprof_mem_scale(const struct mprof_mem_sample *s) {
  const uint64_t size = s->bucket->size, factor = factor_of(s);
  struct mprof_mem_estimate e;
  e.alloc_objects = s->alloc_objects;
  e.alloc_bytes = mprof_scale_up(s->allocs, size, factor);
  e.inuse_objects = s->inuse_objects;
  e.inuse_bytes = mprof_scale_up(mprof_mem_inuse(s), size, factor);
  return e;
}

// A block is sampled with probability p = 1 / scale and then represents `scale`
// blocks. So the variance that a block of the program contributes is
// size^2 * (scale - 1), and a sampled block stands for `scale` such blocks.
// Because scale - 1 = scale * (1 - p), this is (size * scale)^2 * (1 - p) for
// each sample. It is less than 2^57: a large block is nearly always sampled.
void mprof_mem_add_variance(struct mprof_mem_variance *sum,
                            const struct mprof_mem_sample *s) {
  const uint64_t missed =
      mprof_scale_missed(s->bucket->size, s->bucket->rate); // (1 - p) * 2^63
  if (missed == 0)
    return;
  // Without `missed`, the product could exceed 128 bits.
  const uint64_t bytes =
      (uint64_t)mprof_scale_up(1, s->bucket->size, factor_of(s));
  const mprof_u128 of_sample = ((mprof_u128)bytes * missed >> 31) * bytes >> 32;
  sum->alloc_bytes += s->allocs * of_sample;
  sum->inuse_bytes += mprof_mem_inuse(s) * of_sample;
}

struct mprof_heapx_estimate
mprof_heapx_scale(const struct mprof_mem_sample *s,
                  const struct mprof_heapx_sample *x) {
  const uint64_t size = s->bucket->size, factor = factor_of(s);
  const uint64_t slack = x->n[MPROF_HEAPX_SLACK];
  const uint64_t freed = x->n[MPROF_HEAPX_SLACK_FREED];
  // If the free of a block was not recorded, the slack of the freed block is
  // only estimated. Therefore `freed` (the slack of freed blocks) may exceed
  // `slack` (the slack of all blocks).
  bool is_in_use = s->allocs > s->frees && slack > freed;
  return (struct mprof_heapx_estimate){
      .temporary_objects = x->temporary_objects,
      .temporary_bytes =
          mprof_scale_up(x->n[MPROF_HEAPX_TEMPORARY], size, factor),
      .in_place = x->in_place,
      .moved = x->moved,
      .copied_bytes = mprof_scale_up(x->n[MPROF_HEAPX_COPIED], 1, factor),
      .alloc_slack_bytes = mprof_scale_up(slack, 1, factor),
      .inuse_slack_bytes =
          is_in_use ? mprof_scale_up(slack - freed, 1, factor) : 0};
}

// --- numbers of objects ---

// The numbers of objects of a sample, which are rounded to integers.
enum { ALLOC, INUSE, TEMPORARY, IN_PLACE, MOVED, QUANTITIES };

// For one stack: sums over the samples whose numbers were already rounded. The
// exact numbers are multiples of 1 / MPROF_SCALE_ONE.
struct stack_sums {
  // Result of start_of; 0: not computed yet. The number is added to each exact
  // sum before the sum is rounded down.
  uint64_t start;
  mprof_u128 exact[QUANTITIES];
  int64_t rounded[QUANTITIES];
};

// Returns a number between 0 and 1 that depends on the stack only, so that an
// unchanged stack has the same estimate in each profile.
static uint64_t start_of(const struct mprof_bucket *b) {
  uint64_t h = mprof_bucket_hash(b->stack, b->stack_len, 0);
  h *= UINT64_C(0x9e3779b97f4a7c15);
  return ((h >> 56) * 2 + 1) * (MPROF_SCALE_ONE / 512);
}

// Rounds n * factor, the exact number of objects of a sample. Rounds up or down
// in such a way that the sum of the rounded numbers stays close to the exact
// sum. Returns the rounded number.
static int64_t round_objects(struct stack_sums *sums, int quantity, uint64_t n,
                             uint64_t factor) {
  sums->exact[quantity] += (mprof_u128)n * factor;
  const int64_t sum =
      mprof_int64((sums->exact[quantity] + sums->start) / MPROF_SCALE_ONE);
  const int64_t rounded = sum - sums->rounded[quantity];
  sums->rounded[quantity] = sum;
  return rounded;
}

static void estimate_sample(struct mprof_groups *g, struct mprof_mem_sample *s,
                            struct mprof_heapx_sample *x) {
  const struct mprof_bucket *b = s->bucket;
  struct stack_sums *sums = mprof_groups_at(g, b);
  if (sums->start == 0)
    sums->start = start_of(b);
  const uint64_t factor = factor_of(s);
  s->alloc_objects = round_objects(sums, ALLOC, s->allocs, factor);
  s->inuse_objects = round_objects(sums, INUSE, mprof_mem_inuse(s), factor);
  if (x == NULL)
    return;
  const uint64_t *n = x->n;
  x->temporary_objects =
      round_objects(sums, TEMPORARY, n[MPROF_HEAPX_TEMPORARY], factor);
  x->in_place = round_objects(sums, IN_PLACE, n[MPROF_HEAPX_IN_PLACE], factor);
  x->moved = round_objects(sums, MOVED, n[MPROF_HEAPX_MOVED], factor);
}

// No sample gets more objects in use than allocated, for these reasons. Samples
// without frees come first. Their ALLOC and INUSE sums are equal, so these
// samples have as many objects in use as allocated. In each later sample, at
// least one sampled block was freed, so the exact number in use is lower than
// the exact number of allocations by one or more. Each rounding moves a number
// by less than one. So the rounded number in use exceeds the rounded number of
// allocations by less than one. Both numbers are integers, so the number in use
// does not exceed the number of allocations at all.
int mprof_estimate_objects(struct mprof_mem_snapshot *s) {
  struct mprof_groups g;
  const int error =
      mprof_groups_begin(&g, s->len, sizeof(struct stack_sums), MPROF_BY_STACK);
  if (error != 0)
    return error;
  for (int has_frees = 0; has_frees <= 1; has_frees++)
    for (size_t i = 0; i < s->len; i++)
      if ((s->samples[i].frees != 0) == has_frees)
        estimate_sample(&g, &s->samples[i], s->heapx ? &s->heapx[i] : NULL);
  mprof_groups_end(&g);
  mprof_groups_free(&g);
  return 0;
}

// --- sums by stack ---
//
// The key of a heap bucket has the stack, the block size and the sampling rate,
// because the size and the rate are needed to scale a sample. Therefore several
// buckets may have equal stacks.

static void add_samples(struct mprof_heap_sum *sum,
                        const struct mprof_mem_sample *s) {
  sum->alloc_samples += s->allocs;
  sum->inuse_samples += mprof_mem_inuse(s);
  mprof_mem_add_variance(&sum->variance, s);
}

static void add(struct mprof_mem_estimate *sum,
                const struct mprof_mem_estimate *e) {
  sum->alloc_objects += e->alloc_objects;
  sum->alloc_bytes += e->alloc_bytes;
  sum->inuse_objects += e->inuse_objects;
  sum->inuse_bytes += e->inuse_bytes;
}

int mprof_heap_groups_make(struct mprof_heap_groups *g,
                           const struct mprof_mem_snapshot *s) {
  *g = (struct mprof_heap_groups){0};
  int error = mprof_groups_begin(&g->groups, s->len,
                                 sizeof(struct mprof_heap_sum), MPROF_BY_STACK);
  if (error != 0)
    return error;
  for (size_t i = 0; i < s->len; i++) {
    const struct mprof_mem_sample *sample = &s->samples[i];
    if (sample->allocs == 0 && sample->frees == 0)
      continue;
    struct mprof_mem_estimate e = mprof_mem_scale(sample);
    struct mprof_heap_sum *sum = mprof_groups_at(&g->groups, sample->bucket);
    if (sum->bucket == NULL)
      sum->bucket = sample->bucket;
    add(&sum->sum, &e);
    mprof_stack_labels_add(&sum->labels, sample->bucket->labels, e.alloc_bytes,
                           sum->alloc_samples == 0);
    add_samples(sum, sample);
    add(&g->total, &e);
    mprof_mem_add_variance(&g->variance, sample);
    g->samples += sample->allocs;
    g->sample_frees += sample->frees;
  }
  mprof_groups_end(&g->groups);
  g->sorted = (struct mprof_heap_sum **)g->groups.sorted;
  g->len = g->groups.len;
  return 0;
}
