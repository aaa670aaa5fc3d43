// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "task_causes.h"

#include "common/memory.h"

#include <stdlib.h>

static bool is_same(const struct task_part *a, const struct task_part *b) {
  if (a->kind != b->kind || !trace_text_equal(a->lock, b->lock))
    return false;
  return a->lock.length || (!a->at.pc && !b->at.pc) ||
         (a->at.pc && b->at.pc && place_key(&a->at) == place_key(&b->at));
}

static void add(struct task_causes *c, const struct task_part *p,
                size_t *last_task, size_t task) {
  size_t i = 0;
  while (i < c->count && !is_same(c->v[i].largest, p))
    i++;
  if (i == c->count) {
    *APPEND(c->v, c->count, c->capacity) = (struct task_cause){.largest = p};
    last_task[i] = SIZE_MAX;
  }
  struct task_cause *cause = &c->v[i];
  cause->ns += p->ns;
  cause->tasks += last_task[i] != task;
  last_task[i] = task;
  if (p->ns > cause->largest->ns)
    cause->largest = p;
}

static int by_time(const void *a, const void *b) {
  const struct task_cause *x = a, *y = b;
  if (x->ns != y->ns)
    return x->ns < y->ns ? 1 : -1;
  return (x->tasks < y->tasks) - (x->tasks > y->tasks);
}

struct task_causes task_causes_find(const struct latency *l) {
  struct task_causes c = {0};
  size_t parts = 0;
  for (size_t i = 0; i < l->studied_count; i++)
    parts += l->slowest[i].part_count;
  size_t *last_task = zeroed(parts, sizeof *last_task);
  for (size_t i = 0; i < l->studied_count; i++) {
    const struct task_times *t = &l->slowest[i];
    c.ns += task_length(t->task);
    for (size_t k = 0; k < t->part_count; k++)
      add(&c, &t->parts[k], last_task, i);
  }
  free(last_task);
  if (c.count)
    qsort(c.v, c.count, sizeof *c.v, by_time);
  return c;
}

void task_causes_free(struct task_causes *c) { free(c->v); }
