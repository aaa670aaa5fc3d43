// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds tasks that took longer than the option trace_slow_task allows, so that
// the runtime's thread of snapshots writes the trace of the time around them.
//
// The table of open tasks takes no lock. It has room for 4,096 tasks. If it is
// full, for example because the program does not end its tasks, a new task
// replaces an older one, which is then not found to be slow.

#ifndef MPROF_RT_TRACE_SLOW_TASKS_H
#define MPROF_RT_TRACE_SLOW_TASKS_H

#include "sys/base.h"

// A futex that counts the news for the thread of snapshots: a slow task has
// ended, or the thread is to end.
extern MPROF_HIDDEN atomic_uint mprof_slow_task_news;

// The slow tasks since the last call of mprof_slow_tasks_take.
struct mprof_slow_tasks {
  uint64_t count;
  // The first of them: its number, the handle of its name, and how long it
  // took, in ticks of the trace.
  uint64_t task, took;
  uint32_t name;
  uint64_t begin; // of the task that began first, in ticks of the trace
};

// Prepares the table if the option is set. Called before the session begins.
void mprof_slow_tasks_init(void);
// Returns the option trace_slow_task in ticks of the trace.
uint64_t mprof_slow_task_limit(void);
// Record the begin and the end of a task. name: handle of its name. ticks: time
// in ticks of the trace. Call these with the recursion guard set.
void mprof_slow_task_begin(uint64_t task, uint32_t name, uint64_t ticks);
void mprof_slow_task_end(uint64_t task, uint64_t ticks);
// Returns whether a slow task has ended since mprof_slow_tasks_take.
bool mprof_slow_tasks_has_news(void);
// Returns the slow tasks and forgets them.
struct mprof_slow_tasks mprof_slow_tasks_take(void);
// Forgets the slow tasks in a forked child, because their trace belongs to its
// parent.
void mprof_slow_tasks_reset(void);

#endif // MPROF_RT_TRACE_SLOW_TASKS_H
