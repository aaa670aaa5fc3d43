// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tasks.h"

#include "axis.h"
#include "common/memory.h"
#include "timeline.h"

#include <stdlib.h>

enum { DEPTH_MAX = 64 }; // of parts; the trace may claim a circle

struct tasks_timeline {
  struct timeline base;
  struct axis axis;
  struct tasks tasks;
};

static struct tasks_timeline *of(struct timeline *line) {
  return (struct tasks_timeline *)line;
}

const struct task *task_find(const struct tasks *tasks, uint64_t id) {
  size_t index;
  return id && idmap_find(&tasks->ids, id, &index) ? &tasks->v[index] : NULL;
}

bool task_is_part(const struct tasks *tasks, uint64_t id, uint64_t whole) {
  for (int i = 0; i < DEPTH_MAX && id; i++) {
    if (id == whole)
      return true;
    const struct task *t = task_find(tasks, id);
    id = t ? t->parent : 0;
  }
  return false;
}

static void line_at(struct timeline *line, uint64_t ticks) {
  axis_at(&of(line)->axis, ticks);
}

static void line_task_begin(struct timeline *line, uint64_t g, uint64_t id,
                            uint64_t parent, struct trace_text name) {
  struct tasks_timeline *l = of(line);
  struct tasks *t = &l->tasks;
  if (!id || task_find(t, id))
    return;
  idmap_add(&t->ids, id, t->count);
  *APPEND(t->v, t->count, t->capacity) = (struct task){.id = id,
                                                       .parent = parent,
                                                       .name = name,
                                                       .begin = l->axis.now,
                                                       .begin_g = g};
}

static void line_task_end(struct timeline *line, uint64_t g, uint64_t id) {
  struct tasks_timeline *l = of(line);
  struct task *t = (struct task *)task_find(&l->tasks, id);
  if (t && !t->end_g) {
    t->end = l->axis.now;
    t->end_g = g;
  } else if (!t) {
    l->tasks.begun_before++;
  }
}

static void line_region_begin(struct timeline *line, uint64_t g,
                              struct trace_text name, uint64_t id,
                              uint64_t stack) {
  struct task *t = (struct task *)task_find(&of(line)->tasks, id);
  (void)g, (void)name, (void)stack;
  if (t)
    t->has_region = true;
}

static const struct timeline_sink sink = {
    .at = line_at,
    .task_begin = line_task_begin,
    .task_end = line_task_end,
    .region_begin = line_region_begin,
};

struct timeline *tasks_begin(const struct trace *trace) {
  struct tasks_timeline *l = zeroed(1, sizeof *l);
  l->base.sink = &sink;
  l->axis.trace = trace;
  return &l->base;
}

const struct tasks *tasks_end(struct timeline *line) {
  struct tasks *t = &of(line)->tasks;
  t->duration = of(line)->axis.now;
  for (size_t i = 0; i < t->count; i++)
    if (!t->v[i].end_g)
      t->v[i].end = t->duration;
  return t;
}

void tasks_free(struct timeline *line) {
  struct tasks_timeline *l = of(line);
  idmap_clear(&l->tasks.ids);
  free(l->tasks.v);
  free(l);
}
