// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the samples of a snapshot by stack, for output that people read. A
// bucket of the heap is by stack, block size and rate, because samples can only
// be scaled with these. A bucket of waits is by stack and lock.

#include "snapshot/group_by_stack.h"

#include "bucket/bucket.h"
#include "bucket/stack_index.h"
#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_wait.h"
#include "sys/flags.h"
#include "sys/os_linux.h"
#include "sys/sort.h"
#include "sys/stats.h"

#include <errno.h>
#include <string.h>

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

static struct mprof_stack_sum *find(struct mprof_stacks *g,
                                    struct mprof_stack_index *ix,
                                    const struct mprof_bucket *b) {
  struct mprof_stack_slot *slot = mprof_stack_index_get(ix, b);
  if (slot->value != 0)
    return &g->v[slot->value - 1];
  g->v[g->len].bucket = b;
  g->sorted[g->len] = &g->v[g->len];
  slot->value = ++g->len;
  return &g->v[g->len - 1];
}

static void add_samples(struct mprof_stack_sum *sum,
                        const struct mprof_mem_sample *s) {
  sum->alloc_samples += s->allocs;
  if (s->allocs > s->frees)
    sum->inuse_samples += s->allocs - s->frees;
}

static void add(struct mprof_mem_estimate *sum,
                const struct mprof_mem_estimate *e) {
  sum->alloc_objects += e->alloc_objects;
  sum->alloc_bytes += e->alloc_bytes;
  sum->inuse_objects += e->inuse_objects;
  sum->inuse_bytes += e->inuse_bytes;
}

int mprof_stacks_group(struct mprof_stacks *g,
                       const struct mprof_mem_snapshot *s) {
  memset(g, 0, sizeof(*g));
  if (s->len == 0)
    return 0;
  struct mprof_stack_index ix;
  g->mapped_bytes = s->len * (sizeof(*g->v) + sizeof(*g->sorted));
  g->v = mprof_os_map(g->mapped_bytes);
  if (g->v == NULL || mprof_stack_index_init(&ix, s->len, false) != 0) {
    mprof_stacks_free(g);
    return ENOMEM;
  }
  g->sorted = (struct mprof_stack_sum **)(g->v + s->len);
  for (size_t i = 0; i < s->len; i++) {
    const struct mprof_mem_sample *sample = &s->samples[i];
    if (sample->allocs == 0 && sample->frees == 0)
      continue;
    struct mprof_mem_estimate e = mprof_mem_scale(sample);
    struct mprof_stack_sum *sum = find(g, &ix, sample->bucket);
    add(&sum->sum, &e);
    add_labels(&sum->labels, sample->bucket->labels, e.alloc_bytes,
               sum->alloc_samples == 0);
    add_samples(sum, sample);
    add(&g->total, &e);
    g->samples += sample->allocs;
    g->sample_frees += sample->frees;
  }
  mprof_stack_index_free(&ix);
  return 0;
}

void mprof_stacks_free(struct mprof_stacks *g) {
  if (g->v != NULL)
    mprof_os_unmap(g->v, g->mapped_bytes);
  g->v = NULL;
}

const char *mprof_stacks_why_none(const struct mprof_stacks *g, uint64_t rate) {
  if (g->samples != 0)
    return NULL;
  if (!mprof_flags.heap)
    return "heap=0";
  if (rate == 0)
    return "the heap rate is 0";
  if (mprof_flags.stack_depth == 0)
    return "stack_depth=0";
  if (mprof_stat_get(MPROF_STAT_no_memory) != 0)
    return "the profiler had no memory";
  if (rate == 1)
    return "nothing compiled with -fmprof or -fmprof=heap allocated";
  return "what is compiled with -fmprof or -fmprof=heap allocated nothing, or "
         "too little to meet a sample";
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

static void add_heapx_sample(struct mprof_heapx_stacks *g,
                             struct mprof_stack_index *ix,
                             const struct mprof_bucket *b,
                             const struct mprof_heapx_estimate *e) {
  struct mprof_stack_slot *slot = mprof_stack_index_get(ix, b);
  if (slot->value == 0) {
    g->v[g->len].bucket = b;
    g->sorted[g->len] = &g->v[g->len];
    slot->value = ++g->len;
  }
  add_heapx(&g->v[slot->value - 1].sum, e);
  add_heapx(&g->total, e);
}

int mprof_heapx_stacks_group(struct mprof_heapx_stacks *g,
                             const struct mprof_mem_snapshot *s) {
  *g = (struct mprof_heapx_stacks){0};
  if (s->heapx == NULL || s->len == 0)
    return 0;
  struct mprof_stack_index ix;
  g->mapped_bytes = s->len * (sizeof(*g->v) + sizeof(*g->sorted));
  g->v = mprof_os_map(g->mapped_bytes);
  if (g->v == NULL || mprof_stack_index_init(&ix, s->len, false) != 0) {
    mprof_heapx_stacks_free(g);
    return ENOMEM;
  }
  g->sorted = (struct mprof_heapx_sum **)(g->v + s->len);
  for (size_t i = 0; i < s->len; i++) {
    struct mprof_heapx_estimate e =
        mprof_heapx_scale(&s->samples[i], &s->heapx[i]);
    if (mprof_heapx_has_any(&e))
      add_heapx_sample(g, &ix, s->samples[i].bucket, &e);
  }
  mprof_stack_index_free(&ix);
  return 0;
}

void mprof_heapx_stacks_free(struct mprof_heapx_stacks *g) {
  if (g->v != NULL)
    mprof_os_unmap(g->v, g->mapped_bytes);
  g->v = NULL;
}

// --- waits ---

static bool has_more_cycles(const void *a, const void *b) {
  const struct mprof_wait_sum *x = a, *y = b;
  return x->cycles > y->cycles;
}

// Adds a sample to its stack. The samples come with most cycles first, so the
// first sample of a stack that has a lock names the lock with the longest wait.
static void add_wait(struct mprof_wait_stacks *g, struct mprof_stack_index *ix,
                     const struct mprof_wait_sample *s) {
  struct mprof_stack_slot *slot = mprof_stack_index_get(ix, s->bucket);
  const bool is_first = slot->value == 0;
  if (is_first) {
    g->v[g->len].bucket = s->bucket;
    g->sorted[g->len] = &g->v[g->len];
    slot->value = ++g->len;
  }
  struct mprof_wait_sum *sum = &g->v[slot->value - 1];
  add_labels(&sum->labels, s->bucket->labels, s->cycles, is_first);
  if (s->bucket->object != 0 && sum->locks++ == 0)
    sum->bucket = s->bucket;
  sum->count += s->count;
  sum->cycles += s->cycles;
  g->count += s->count;
  g->cycles += s->cycles;
}

int mprof_wait_stacks_group(struct mprof_wait_stacks *g,
                            const struct mprof_wait_snapshot *s,
                            bool by_labels) {
  *g = (struct mprof_wait_stacks){0};
  if (s->len == 0)
    return 0;
  struct mprof_stack_index ix;
  g->mapped_bytes = s->len * (sizeof(*g->v) + sizeof(*g->sorted));
  g->v = mprof_os_map(g->mapped_bytes);
  if (g->v == NULL || mprof_stack_index_init(&ix, s->len, by_labels) != 0) {
    mprof_wait_stacks_free(g);
    return ENOMEM;
  }
  g->sorted = (struct mprof_wait_sum **)(g->v + s->len);
  for (size_t i = 0; i < s->len; i++)
    add_wait(g, &ix, &s->samples[i]);
  mprof_stack_index_free(&ix);
  mprof_sort((void **)g->sorted, g->len, has_more_cycles);
  return 0;
}

void mprof_wait_stacks_free(struct mprof_wait_stacks *g) {
  if (g->v != NULL)
    mprof_os_unmap(g->v, g->mapped_bytes);
  g->v = NULL;
}
