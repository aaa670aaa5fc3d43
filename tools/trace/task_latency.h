// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tasks of a trace, how long each took, and what the time of the slowest
// ones went to. In a trace without tasks, each outermost region of a thread
// counts as a task.

#ifndef MPROF_TRACE_TASK_LATENCY_H
#define MPROF_TRACE_TASK_LATENCY_H

#include "task_times.h"
#include "tasks.h"
#include "window.h"

struct latency {
  const struct tasks *tasks;
  bool are_regions; // the tasks are the outermost regions of threads
  // Set by latency_find_slowest:
  size_t in_window;           // number of tasks that the window has a part of
  struct task_times *slowest; // of them, the slowest first
  size_t slowest_count;       // to be shown
  // The times of so many are known: a tenth of all, but not too many.
  size_t studied_count;
  struct times *times;           // of the threads, for their names
  struct timeline *line, *again; // hold the tasks and the times
};

// Finds the tasks of the trace, or, if it has none, its regions. path: NULL if
// the violations of the format shall only be counted. Returns their number.
// Clear the result with latency_clear before the trace is closed.
uint64_t latency_find_tasks(struct latency *l, const char *path,
                            struct trace *trace);
// Finds the regions of a trace that is known to have no tasks, which saves to
// read it once more.
void latency_find_regions(struct latency *l, struct trace *trace);
// Finds what the time of the slowest tasks went to. At most `limit` of them are
// to be shown one by one.
void latency_find_slowest(struct latency *l, struct trace *trace,
                          struct trace_window window, size_t limit);
void latency_clear(struct latency *l);

static inline uint64_t task_length(const struct task *t) {
  return t->end - t->begin;
}

#endif
