// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes snapshots of the block, the mutex and the wall profile. This file does
// not scale the counts, because they were scaled when they were added to the
// buckets. These profiles are not divided into cycles (counts.h), because a
// wait is one event, which is counted after the wait has ended. (Go:
// blockProfileInternal, mutexProfileInternal)

#include "bucket/bucket.h"
#include "lock_wait/contention.h"
#include "options/flags.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "sys/os.h"
#include "sys/scale.h"
#include "sys/sort.h"
#include "sys/stats.h"
#include "thread_stacks/thread_stacks.h"
#include "unwind/unwind.h"

#include <errno.h>

#define NS_PER_SECOND UINT64_C(1000000000)

static uint64_t rate_of(enum mprof_bucket_type type) {
  if (type == MPROF_BUCKET_WALL)
    return mprof_flags.wall_rate != 0 ? mprof_flags.wall_rate
                                      : mprof_wall_rate();
  return atomic_load_explicit(type == MPROF_BUCKET_BLOCK
                                  ? &mprof_contention.block_rate_ns
                                  : &mprof_contention.mutex_fraction,
                              memory_order_relaxed);
}

static bool has_more_cycles(const void *a, const void *b) {
  const struct mprof_wait_sample *x = a, *y = b;
  return x->cycles != y->cycles ? x->cycles > y->cycles : x->count > y->count;
}

// Adds the counts of all buckets of the list, from `first` on, to the groups of
// g. Counts are in units of 1 / MPROF_COUNT_ONE. The list begins with the
// newest bucket, and `first` was the newest bucket when the snapshot began. So
// buckets that were added later are not part of the snapshot.
static void gather(struct mprof_groups *g, const struct mprof_bucket *first) {
  for (const struct mprof_bucket *b = first; b != NULL; b = b->allnext) {
    uint64_t count = atomic_load_explicit(&b->wait.count, memory_order_relaxed);
    uint64_t cycles =
        atomic_load_explicit(&b->wait.cycles, memory_order_relaxed);
    if (count == 0 && cycles == 0)
      continue;
    struct mprof_wait_sample *s = mprof_groups_at(g, b);
    if (s->bucket == NULL)
      s->bucket = b;
    s->count += (int64_t)count;
    s->cycles += (int64_t)cycles;
    s->cpu_ns +=
        (int64_t)atomic_load_explicit(&b->wait.cpu_ns, memory_order_relaxed);
  }
  mprof_groups_end(g);
  mprof_sort(g->sorted, g->len, has_more_cycles);
}

// Returns the count of a sample, rounded to an integer. In the block profile
// the result is at least 1: the stack has waited at least once, even if the
// scaled count is below 1/2. (Go: blockProfileInternal, Count == 0)
static int64_t whole_count(const struct mprof_wait_sample *s) {
  int64_t n =
      (s->count + (int64_t)MPROF_COUNT_ONE / 2) / (int64_t)MPROF_COUNT_ONE;
  return n == 0 && s->bucket->type == MPROF_BUCKET_BLOCK ? 1 : n;
}

static int copy(struct mprof_wait_snapshot *s, const struct mprof_groups *g) {
  if (g->len == 0)
    return 0;
  s->mapped_bytes = g->len * sizeof(*s->samples);
  s->samples = mprof_os_map(s->mapped_bytes);
  if (s->samples == NULL)
    return -ENOMEM;
  for (; s->len < g->len; s->len++) {
    struct mprof_wait_sample *x = &s->samples[s->len];
    *x = *(const struct mprof_wait_sample *)g->sorted[s->len];
    x->count = whole_count(x);
  }
  return 0;
}

static int take(struct mprof_wait_snapshot *s, bool by_stack) {
  const struct mprof_bucket *first = mprof_bucket_first(s->type);
  struct mprof_groups g;
  int error = mprof_groups_begin(&g, mprof_bucket_count(s->type),
                                 sizeof(struct mprof_wait_sample),
                                 by_stack ? MPROF_BY_STACK : MPROF_BY_NOTHING);
  if (error != 0)
    return error;
  gather(&g, first);
  error = copy(s, &g);
  mprof_groups_free(&g);
  return error;
}

static uint64_t count_cut(enum mprof_bucket_type type) {
  uint64_t parts = 0;
  for (const struct mprof_bucket *b = mprof_bucket_first(type); b != NULL;
       b = b->allnext)
    if (b->end != MPROF_STACK_COMPLETE)
      parts += atomic_load_explicit(&b->wait.count, memory_order_relaxed);
  return parts / MPROF_COUNT_ONE;
}

static void set_stats(const struct mprof_wait_snapshot *s) {
  uint64_t count = 0;
  if (s->type == MPROF_BUCKET_WALL)
    return;
  for (size_t i = 0; i < s->len; i++)
    count += (uint64_t)s->samples[i].count;
  mprof_stat_set(s->type == MPROF_BUCKET_BLOCK ? MPROF_STAT_waits
                                               : MPROF_STAT_contentions,
                 count);
  mprof_stat_set(MPROF_STAT_truncated_waits,
                 count_cut(MPROF_BUCKET_BLOCK) + count_cut(MPROF_BUCKET_MUTEX));
  mprof_stat_set(MPROF_STAT_runtime_lock_wait_ns,
                 mprof_clock_ns(mprof_lock_wait_ticks()));
}

int mprof_wait_snapshot_take(struct mprof_wait_snapshot *s,
                             enum mprof_bucket_type type, bool by_stack) {
  *s = (struct mprof_wait_snapshot){
      .type = type, .rate = rate_of(type), .time_ns = mprof_sys_realtime_ns()};
  int error = take(s, by_stack);
  if (error != 0)
    return error;
  if (s->len > 0)
    s->ticks_per_second = mprof_clock_ticks_per_second();
  set_stats(s);
  return 0;
}

static bool comes_by_bucket(const void *a, const void *b) {
  const struct mprof_wait_sample *x = a, *y = b;
  return (uintptr_t)x->bucket < (uintptr_t)y->bucket;
}

static bool join_bucket(void *into, const void *next) {
  struct mprof_wait_sample *x = into;
  const struct mprof_wait_sample *y = next;
  if (x->bucket != y->bucket)
    return false;
  x->count += y->count;
  x->cycles += y->cycles;
  x->cpu_ns += y->cpu_ns;
  return true;
}

// Stores in d the samples of after, and those of before with negative values.
// v receives pointers to them. Then joins the samples of the same bucket, and
// leaves pointers to those that have a value in v. Returns their number.
static size_t subtract(struct mprof_wait_sample *samples, void **v,
                       const struct mprof_wait_snapshot *after,
                       const struct mprof_wait_snapshot *before) {
  const size_t n = after->len + before->len;
  for (size_t i = 0; i < n; i++) {
    v[i] = &samples[i];
    if (i < after->len) {
      samples[i] = after->samples[i];
      continue;
    }
    samples[i] = before->samples[i - after->len];
    samples[i].count = -samples[i].count;
    samples[i].cycles = -samples[i].cycles;
    samples[i].cpu_ns = -samples[i].cpu_ns;
  }
  const size_t joined =
      mprof_join_neighbours(v, n, comes_by_bucket, join_bucket);
  size_t left = 0;
  for (size_t i = 0; i < joined; i++) {
    const struct mprof_wait_sample *x = v[i];
    if (x->count != 0 || x->cycles != 0)
      v[left++] = v[i];
  }
  mprof_sort(v, left, has_more_cycles);
  return left;
}

int mprof_wait_snapshot_subtract(struct mprof_wait_snapshot *d,
                                 const struct mprof_wait_snapshot *after,
                                 const struct mprof_wait_snapshot *before) {
  const size_t n = after->len + before->len;
  *d = *after;
  d->samples = NULL;
  d->len = 0;
  d->duration_ns = after->time_ns - before->time_ns;
  if (n == 0)
    return 0;
  const size_t scratch_bytes = n * (sizeof(*d->samples) + sizeof(void *));
  struct mprof_wait_sample *scratch = mprof_os_map(scratch_bytes);
  d->mapped_bytes = n * sizeof(*d->samples);
  d->samples = mprof_os_map(d->mapped_bytes);
  if (scratch != NULL && d->samples != NULL) {
    void **v = (void **)(scratch + n);
    d->len = subtract(scratch, v, after, before);
    for (size_t i = 0; i < d->len; i++)
      d->samples[i] = *(const struct mprof_wait_sample *)v[i];
  }
  const int error = scratch == NULL || d->samples == NULL ? -ENOMEM : 0;
  if (scratch != NULL)
    mprof_os_unmap(scratch, scratch_bytes);
  return error;
}

void mprof_wait_snapshot_free(struct mprof_wait_snapshot *s) {
  if (s->samples != NULL)
    mprof_os_unmap(s->samples, s->mapped_bytes);
  *s = (struct mprof_wait_snapshot){0};
}

int64_t mprof_wait_ns(const struct mprof_wait_snapshot *s, int64_t cycles) {
  if (cycles <= 0)
    return 0;
  const uint64_t rate = mprof_wait_ticks_per_second(s);
  return mprof_int64(mprof_mul_div((uint64_t)cycles, 1000000000, rate, 0));
}

// --- sums by stack ---
//
// The key of a wait bucket has the stack and the lock. Therefore several
// buckets may have equal stacks.

static bool waited_longer(const void *a, const void *b) {
  const struct mprof_wait_sum *x = a, *y = b;
  return x->cycles > y->cycles;
}

// Adds a sample to the sum of its stack. The caller passes the samples in the
// order of their cycles, most cycles first. Therefore the first sample with a
// known lock belongs to the lock with the longest waits. The sum takes the
// bucket of this sample.
static void add_wait(struct mprof_wait_groups *g,
                     const struct mprof_wait_sample *s) {
  struct mprof_wait_sum *sum = mprof_groups_at(&g->groups, s->bucket);
  const bool is_first = sum->bucket == NULL;
  if (is_first)
    sum->bucket = s->bucket;
  mprof_stack_labels_add(&sum->labels, s->bucket->labels, s->cycles, is_first);
  if (s->bucket->object != 0 && sum->locks++ == 0)
    sum->bucket = s->bucket;
  sum->count += s->count;
  sum->cycles += s->cycles;
  sum->cpu_ns += s->cpu_ns;
  g->cpu_ns += s->cpu_ns;
  g->count += s->count;
  g->cycles += s->cycles;
}

int mprof_wait_groups_make(struct mprof_wait_groups *g,
                           const struct mprof_wait_snapshot *s,
                           bool by_labels) {
  *g = (struct mprof_wait_groups){0};
  int error = mprof_groups_begin(
      &g->groups, s->len, sizeof(struct mprof_wait_sum),
      by_labels ? MPROF_BY_STACK_AND_LABELS : MPROF_BY_STACK);
  if (error != 0)
    return error;
  for (size_t i = 0; i < s->len; i++)
    add_wait(g, &s->samples[i]);
  mprof_groups_end(&g->groups);
  g->sorted = (struct mprof_wait_sum **)g->groups.sorted;
  g->len = g->groups.len;
  mprof_sort((void **)g->sorted, g->len, waited_longer);
  return 0;
}
