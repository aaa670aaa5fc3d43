// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consumes a timeline for mprof latency: collects the tasks of a trace, and how
// long each took. task_times.c then reads the trace again, to find what the
// time of the slowest tasks went to.

#ifndef MPROF_TRACE_TASKS_H
#define MPROF_TRACE_TASKS_H

#include "common/idmap.h"

#include "text.h"

#include <stdint.h>

struct timeline;
struct trace;

struct task {
  uint64_t id, parent; // parent 0: none
  struct trace_text name;
  // Nanoseconds since the first event. If the task has not ended, `end` is the
  // end of the trace.
  uint64_t begin, end;
  uint64_t begin_g, end_g; // the threads; end_g 0: the task has not ended
  bool has_region;         // a region of a thread belongs to the task
};

struct tasks {
  struct idmap ids; // maps the number of a task to its index in v
  struct task *v;
  size_t count, capacity;
  uint64_t duration;     // of the trace, in nanoseconds
  uint64_t begun_before; // number of tasks that began before the trace
};

struct timeline *tasks_begin(const struct trace *trace);
// Returns the tasks, in the order of their begins. They are valid until
// tasks_free.
const struct tasks *tasks_end(struct timeline *line);
void tasks_free(struct timeline *line);

// Returns the task with this number, or NULL.
const struct task *task_find(const struct tasks *tasks, uint64_t id);
// Returns whether task id is the task `whole`, or a part of it, or a part of
// such a part.
bool task_is_part(const struct tasks *tasks, uint64_t id, uint64_t whole);

#endif
