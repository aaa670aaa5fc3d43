// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the stacks of all threads, so that a profile shows equal stacks once,
// with their number of threads.

#include "snapshot/group_threads.h"

#include "bucket/bucket.h"
#include "snapshot/stack_groups.h"
#include "sys/os_memory.h"
#include "sys/sort.h"
#include "thread_stacks/thread_slots.h"

#include <errno.h>
#include <string.h>

// --- equal stacks ---

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

// --- differences ---

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
