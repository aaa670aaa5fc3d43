// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "task_latency.h"

#include "common/memory.h"

#include "convert.h"

#include <stdlib.h>

uint64_t latency_find_tasks(struct latency *l, const char *path,
                            struct trace *trace) {
  *l = (struct latency){.line = tasks_begin(trace)};
  const uint64_t violations = convert(path, trace, l->line);
  l->tasks = tasks_end(l->line);
  if (l->tasks->count || l->tasks->begun_before)
    return violations;
  tasks_free(l->line);
  latency_find_regions(l, trace);
  return violations;
}

void latency_find_regions(struct latency *l, struct trace *trace) {
  *l = (struct latency){.line = tasks_begin(trace)};
  convert_regions_to_tasks(trace, l->line);
  l->tasks = tasks_end(l->line);
  l->are_regions = l->tasks->count != 0;
}

static int by_length(const void *a, const void *b) {
  const struct task *x = *(const struct task *const *)a,
                    *y = *(const struct task *const *)b;
  if (task_length(x) != task_length(y))
    return task_length(x) < task_length(y) ? 1 : -1;
  return (x->id > y->id) - (x->id < y->id);
}

void latency_find_slowest(struct latency *l, struct trace *trace,
                          struct trace_window window, size_t limit) {
  enum { STUDIED_PART = 10, STUDIED_MOST = 100 };
  const struct task **tasks = zeroed(l->tasks->count, sizeof *tasks);
  for (size_t i = 0; i < l->tasks->count; i++)
    if (l->tasks->v[i].end >= window.from && l->tasks->v[i].begin <= window.to)
      tasks[l->in_window++] = &l->tasks->v[i];
  qsort(tasks, l->in_window, sizeof *tasks, by_length);
  l->slowest_count = limit < l->in_window ? limit : l->in_window;
  l->studied_count = l->in_window / STUDIED_PART;
  if (l->studied_count > STUDIED_MOST)
    l->studied_count = STUDIED_MOST;
  if (l->studied_count < l->slowest_count)
    l->studied_count = l->slowest_count;
  l->slowest = zeroed(l->studied_count, sizeof *l->slowest);
  for (size_t i = 0; i < l->studied_count; i++)
    l->slowest[i].task = tasks[i];
  free(tasks);
  l->again = task_times_begin(trace, l->tasks, l->slowest, l->studied_count);
  if (l->are_regions)
    convert_regions_to_tasks(trace, l->again);
  else
    convert(NULL, trace, l->again); // latency_find_tasks printed the violations
  l->times = task_times_end(l->again);
}

void latency_clear(struct latency *l) {
  if (l->again)
    task_times_free(l->again);
  tasks_free(l->line);
  free(l->slowest);
  *l = (struct latency){0};
}
