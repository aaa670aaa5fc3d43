// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the samples of a snapshot; see stack_groups.h. One memory mapping
// holds the groups and the pointers to them. A second mapping holds the index
// that finds the group of a stack.

#include "snapshot/stack_groups.h"

#include "bucket/bucket.h"
#include "bucket/bucket_map.h"
#include "heap/beneath.h"
#include "options/flags.h"
#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_wait.h"
#include "sys/os_memory.h"
#include "sys/sort.h"
#include "sys/stats.h"
#include "thread_stacks/thread_slots.h"

#include <errno.h>
#include <string.h>

int mprof_groups_begin(struct mprof_groups *g, size_t most, size_t each,
                       enum mprof_group_by by) {
  *g = (struct mprof_groups){.each = each, .by = by};
  if (most == 0)
    return 0;
  g->mapped_bytes = most * (each + sizeof(*g->sorted));
  g->v = mprof_os_map(g->mapped_bytes);
  if (g->v == NULL)
    return -ENOMEM;
  g->sorted = (void **)(g->v + most * each);
  if (by != MPROF_BY_NOTHING &&
      mprof_stack_index_init(&g->index, most,
                             by == MPROF_BY_STACK_AND_LABELS) != 0) {
    mprof_groups_free(g);
    return -ENOMEM;
  }
  return 0;
}

void *mprof_groups_at(struct mprof_groups *g, const struct mprof_bucket *b) {
  struct mprof_stack_slot *slot =
      g->by == MPROF_BY_NOTHING ? NULL : mprof_stack_index_get(&g->index, b);
  if (slot != NULL && slot->value != 0)
    return g->v + (slot->value - 1) * g->each;
  void *group = g->v + g->len * g->each;
  g->sorted[g->len++] = group;
  if (slot != NULL)
    slot->value = g->len;
  return group;
}

void mprof_groups_end(struct mprof_groups *g) {
  mprof_stack_index_free(&g->index);
}

void mprof_groups_free(struct mprof_groups *g) {
  if (g->v != NULL)
    mprof_os_unmap(g->v, g->mapped_bytes);
  g->v = NULL;
}

size_t mprof_join_neighbours(void **v, size_t len,
                             bool (*comes_before)(const void *, const void *),
                             bool (*join)(void *into, const void *next)) {
  size_t left = 0;
  mprof_sort(v, len, comes_before);
  for (size_t i = 0; i < len; i++)
    if (left == 0 || !join(v[left - 1], v[i]))
      v[left++] = v[i];
  return left;
}

// --- the heap ---

// For output that people read, the samples are grouped by stack. The key of a
// heap bucket has the stack, the block size and the sampling rate. The size and
// the rate are needed to scale a sample. The key of a wait bucket has the stack
// and the lock. Therefore several buckets may have equal stacks.

static void add_labels(struct mprof_stack_labels *l, uint16_t labels,
                       int64_t weight, bool is_first) {
  if (is_first)
    l->first = labels;
  l->differ |= labels != l->first;
  if (labels != 0 && (l->most == 0 || weight > l->weight)) {
    l->most = labels;
    l->weight = weight;
  }
}

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
    add_labels(&sum->labels, sample->bucket->labels, e.alloc_bytes,
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

void mprof_heap_groups_free(struct mprof_heap_groups *g) {
  mprof_groups_free(&g->groups);
}

const char *mprof_heap_groups_why_none(const struct mprof_heap_groups *g,
                                       uint64_t rate) {
  if (g->samples != 0)
    return NULL;
  if (!mprof_flags.heap)
    return "heap=0";
  if (rate == 0)
    return "heap_rate=0";
  if (mprof_flags.stack_depth == 0)
    return "stack_depth=0";
  if (mprof_stat_get(MPROF_STAT_no_memory) != 0)
    return "the profiler ran out of memory";
  // In libmprof_preload.so, and in programs that were linked with the
  // interceptors, allocations of all code are counted.
  if (mprof_intercepted.c)
    return rate == 1 ? "the program allocated nothing"
                     : "the program allocated nothing, or too little to be "
                       "sampled";
  if (rate == 1)
    return "no code compiled with -fmprof allocated memory";
  return "code compiled with -fmprof allocated nothing, or too little to be "
         "sampled";
}

// --- heapx ---

bool mprof_heapx_has_any(const struct mprof_heapx_estimate *e) {
  return e->temporary_objects != 0 || e->in_place != 0 || e->moved != 0 ||
         e->alloc_slack_bytes != 0;
}

static void add_heapx(struct mprof_heapx_estimate *sum,
                      const struct mprof_heapx_estimate *e) {
  sum->temporary_objects += e->temporary_objects;
  sum->temporary_bytes += e->temporary_bytes;
  sum->in_place += e->in_place;
  sum->moved += e->moved;
  sum->copied_bytes += e->copied_bytes;
  sum->alloc_slack_bytes += e->alloc_slack_bytes;
  sum->inuse_slack_bytes += e->inuse_slack_bytes;
}

int mprof_heapx_groups_make(struct mprof_heapx_groups *g,
                            const struct mprof_mem_snapshot *s) {
  *g = (struct mprof_heapx_groups){0};
  const size_t len = s->heapx != NULL ? s->len : 0;
  int error = mprof_groups_begin(
      &g->groups, len, sizeof(struct mprof_heapx_sum), MPROF_BY_STACK);
  if (error != 0)
    return error;
  for (size_t i = 0; i < len; i++) {
    struct mprof_heapx_estimate e =
        mprof_heapx_scale(&s->samples[i], &s->heapx[i]);
    if (!mprof_heapx_has_any(&e))
      continue;
    const struct mprof_bucket *b = s->samples[i].bucket;
    struct mprof_heapx_sum *sum = mprof_groups_at(&g->groups, b);
    if (sum->bucket == NULL)
      sum->bucket = b;
    add_heapx(&sum->sum, &e);
    add_heapx(&g->total, &e);
  }
  mprof_groups_end(&g->groups);
  g->sorted = (struct mprof_heapx_sum **)g->groups.sorted;
  g->len = g->groups.len;
  return 0;
}

void mprof_heapx_groups_free(struct mprof_heapx_groups *g) {
  mprof_groups_free(&g->groups);
}

// --- waits ---

static bool has_more_cycles(const void *a, const void *b) {
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
  add_labels(&sum->labels, s->bucket->labels, s->cycles, is_first);
  if (s->bucket->object != 0 && sum->locks++ == 0)
    sum->bucket = s->bucket;
  sum->count += s->count;
  sum->cycles += s->cycles;
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
  mprof_sort((void **)g->sorted, g->len, has_more_cycles);
  return 0;
}

void mprof_wait_groups_free(struct mprof_wait_groups *g) {
  mprof_groups_free(&g->groups);
}

// --- threads with equal stacks ---

static bool is_equal(const struct mprof_thread_slot *x,
                     const struct mprof_thread_slot *y) {
  return x->source == y->source && x->grade == y->grade &&
         x->holder == y->holder && x->stack->hash == y->stack->hash &&
         x->stack->end == y->stack->end &&
         x->stack->labels == y->stack->labels &&
         x->stack->object == y->stack->object &&
         x->stack->stack_len == y->stack->stack_len &&
         memcmp(x->stack->stack, y->stack->stack,
                x->stack->stack_len * sizeof(mprof_pc)) == 0;
}

static bool comes_by_stack(const void *a, const void *b) {
  const struct mprof_thread_slot *x = a, *y = b;
  if (x->stack->hash != y->stack->hash)
    return x->stack->hash < y->stack->hash;
  if (x->stack->labels != y->stack->labels)
    return x->stack->labels < y->stack->labels;
  if (x->stack->object != y->stack->object)
    return x->stack->object < y->stack->object;
  if (x->source != y->source)
    return x->source < y->source;
  if (x->grade != y->grade)
    return x->grade < y->grade;
  return x->holder < y->holder;
}

static bool join_equal(void *into, const void *next) {
  struct mprof_thread_slot *x = into;
  if (!is_equal(x, next))
    return false;
  x->count++;
  return true;
}

static bool has_more_threads(const void *a, const void *b) {
  const struct mprof_thread_slot *x = a, *y = b;
  return x->count != y->count ? x->count > y->count : comes_by_stack(x, y);
}

void mprof_thread_stacks_group(struct mprof_thread_stacks *s) {
  for (size_t i = 0; i < s->len; i++) {
    struct mprof_bucket *b = s->v[i]->stack;
    b->hash = mprof_bucket_hash(b->stack, b->stack_len, 0);
  }
  s->len =
      mprof_join_neighbours((void **)s->v, s->len, comes_by_stack, join_equal);
  mprof_sort((void **)s->v, s->len, has_more_threads);
}

static bool join_counts(void *into, const void *next) {
  struct mprof_thread_slot *x = into;
  const struct mprof_thread_slot *y = next;
  if (!is_equal(x, y))
    return false;
  x->count += y->count;
  return true;
}

int mprof_thread_stacks_subtract(struct mprof_thread_stacks *d,
                                 const struct mprof_thread_stacks *after,
                                 const struct mprof_thread_stacks *before) {
  const size_t n = after->len + before->len;
  *d = (struct mprof_thread_stacks){.time_ns = after->time_ns,
                                    .duration_ns =
                                        after->time_ns - before->time_ns,
                                    .unseen = after->unseen,
                                    .mapped_bytes = (n + 1) * sizeof(*d->v)};
  d->v = mprof_os_map(d->mapped_bytes);
  if (d->v == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < before->len; i++)
    before->v[i]->count = -before->v[i]->count;
  memcpy(d->v, after->v, after->len * sizeof(*d->v));
  memcpy(d->v + after->len, before->v, before->len * sizeof(*d->v));
  const size_t joined =
      mprof_join_neighbours((void **)d->v, n, comes_by_stack, join_counts);
  for (size_t i = 0; i < joined; i++)
    if (d->v[i]->count != 0)
      d->v[d->len++] = d->v[i];
  return 0;
}

void mprof_thread_stacks_free_difference(struct mprof_thread_stacks *d) {
  if (d->v != NULL)
    mprof_os_unmap(d->v, d->mapped_bytes);
  *d = (struct mprof_thread_stacks){0};
}
