// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consumes a timeline for mprof latency: finds what the time of some tasks went
// to, across all threads that worked for them.
//
// A thread works for a task while it is in a region of the task. Outside of
// regions, it works for the last task that it has begun, as long as another
// thread has not taken the task over:
//
//   begun by the thread that ends it   until it ends
//   ended by another thread            until another thread is in a region of
//                                      the task, or the first thread wakes the
//                                      thread that ends the task, or begins a
//                                      task that is no part of this one
//
// A thread that ends tasks of other threads works for the one that it ends
// next, unless that has regions. Who works for a part of a task works for the
// task.
//
// At any time, a task has the state of one of its threads: of one that runs, or
// else of one that could run, or else of the one that began to wait last,
// because the others may wait for this one. So the parts add up to the time
// that the task took.

#ifndef MPROF_TRACE_TASK_TIMES_H
#define MPROF_TRACE_TASK_TIMES_H

#include "place.h"
#include "sampled.h"
#include "times.h"

struct task;
struct tasks;

enum { TASK_UNATTENDED = TIME_KINDS }; // no thread worked for the task

// A thread that has released a lock while another thread waited for it, and
// where.
struct holder_part {
  uint64_t g;
  struct place at;
  uint64_t ns; // since the release before it, or since the begin of the wait
};

struct holder_parts {
  struct holder_part *v;
  size_t count, capacity;
};

// A part of the time of a task.
struct task_part {
  unsigned kind;          // TIME_RUNNING and so on, or TASK_UNATTENDED
  uint64_t g;             // the thread; 0: none
  struct place at;        // of a wait or a system call
  struct trace_text lock; // name of the lock that it waits for; empty: none
  // Who ended the waits: the thread (0: not known), and its line.
  uint64_t waker;
  struct place woken_at;
  struct holder_parts held; // the longest first; empty: not known
  uint64_t ns, count;       // count: number of waits
  uint64_t wait;            // number of the wait, as long as the thread waits
  struct sampled sampled;   // CPU samples of a thread that runs
  // The begin of the last run of a thread that runs, and this part's time in
  // it.
  uint64_t run_since, run_ns;
};

// Numbers of tasks or of threads.
struct list {
  uint64_t *v;
  size_t count, capacity;
};

// A message that the program has written for a task.
struct task_message {
  struct trace_text key, text;
};

enum { TASK_MESSAGES = 2 };

struct task_times {
  const struct task *task;
  struct task_part *parts; // largest first
  size_t part_count, part_capacity;
  // The last messages for the task or a part of it, in their order.
  struct task_message messages[TASK_MESSAGES];
  size_t message_count;
  // While the trace is read:
  bool is_open;
  uint64_t until;      // up to when the parts are counted
  struct list threads; // those that work for the task
};

// Returns a timeline that fills in `wanted`, with `count` elements, of which
// only the field task is set.
struct timeline *task_times_begin(const struct trace *trace,
                                  const struct tasks *tasks,
                                  struct task_times *wanted, size_t count);
// Ends and sorts the parts. Returns the threads, for their names, which are
// valid until task_times_free.
struct times *task_times_end(struct timeline *line);
void task_times_free(struct timeline *line);

#endif
