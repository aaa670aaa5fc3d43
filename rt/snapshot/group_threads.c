// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the stacks of all threads, so that a profile shows equal stacks once,
// with their number of threads.

#include "snapshot/group_threads.h"

#include "bucket/bucket.h"
#include "snapshot/stack_groups.h"
#include "sys/sort.h"
#include "thread_stacks/thread_slots.h"

#include <string.h>

// --- equal stacks ---

static bool is_equal(const struct mprof_thread_slot *x,
                     const struct mprof_thread_slot *y) {
  return x->source == y->source && x->grade == y->grade &&
         x->holder == y->holder && x->stack.hash == y->stack.hash &&
         x->stack.end == y->stack.end && x->stack.labels == y->stack.labels &&
         x->stack.object == y->stack.object &&
         x->stack.stack_len == y->stack.stack_len &&
         memcmp(x->stack.stack, y->stack.stack,
                x->stack.stack_len * sizeof(mprof_pc)) == 0;
}

static bool comes_by_stack(const void *a, const void *b) {
  const struct mprof_thread_slot *x = a, *y = b;
  if (x->stack.hash != y->stack.hash)
    return x->stack.hash < y->stack.hash;
  if (x->stack.labels != y->stack.labels)
    return x->stack.labels < y->stack.labels;
  if (x->stack.object != y->stack.object)
    return x->stack.object < y->stack.object;
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
    struct mprof_bucket *b = &s->v[i]->stack;
    b->hash = mprof_bucket_hash(b->stack, b->stack_len, 0);
  }
  s->len =
      mprof_join_neighbours((void **)s->v, s->len, comes_by_stack, join_equal);
  mprof_sort((void **)s->v, s->len, has_more_threads);
}
