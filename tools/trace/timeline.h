// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between the converter and the consumers of a trace. The
// converter (convert.c) knows the trace format and calls these functions in the
// order of time. timeline.c passes each call to the consumer: timeline_json.c
// writes JSON, waits.c collects the longest waits, and tasks.c and task_times.c
// collect tasks.
//
// trace_frequency gives the frequency of the ticks that are passed to a
// function. The bytes of a text belong to the caller and must stay valid until
// the timeline is freed. A stack id is valid only during the call, because the
// same id may mean another stack at the next event.

#ifndef MPROF_TRACE_TIMELINE_H
#define MPROF_TRACE_TIMELINE_H

#include "text.h"

#include <stdint.h>

enum thread_state {
  THREAD_ABSENT, // not created yet, or already ended
  THREAD_RUNNABLE,
  THREAD_RUNNING,
  THREAD_BLOCKED,
  THREAD_IN_CALL, // in a system call
};

// A range is a span of time, such as a task or a garbage collection. Ranges may
// overlap, whereas the regions of a thread are nested.
enum range_kind {
  RANGE_TASK,
  RANGE_COLLECTION,
  RANGE_STOP, // all threads are stopped
  RANGE_SWEEP,
  RANGE_ASSIST, // a thread assists a garbage collection
  RANGE_KINDS
};

enum counter_kind { COUNTER_HEAP, COUNTER_GOAL, COUNTER_KINDS };

struct timeline;
// What an implementation does at each call. A member may be NULL.
struct timeline_sink {
  void (*at)(struct timeline *line, uint64_t ticks);
  void (*create)(struct timeline *line, uint64_t g, uint64_t by,
                 uint64_t start_stack);
  void (*state)(struct timeline *line, uint64_t g, enum thread_state state,
                struct trace_text reason, uint64_t stack);
  void (*unblock)(struct timeline *line, uint64_t g, uint64_t by,
                  uint64_t stack);
  void (*kernel_thread)(struct timeline *line, uint64_t g, uint64_t m);
  void (*name)(struct timeline *line, uint64_t g, struct trace_text name);
  void (*label)(struct timeline *line, uint64_t g, struct trace_text label);
  void (*region_begin)(struct timeline *line, uint64_t g,
                       struct trace_text name, uint64_t task, uint64_t stack);
  void (*region_end)(struct timeline *line, uint64_t g);
  void (*instant)(struct timeline *line, uint64_t g, const char *category,
                  struct trace_text name, struct trace_text value,
                  uint64_t stack);
  void (*lock)(struct timeline *line, uint64_t g, struct trace_text name);
  void (*sample)(struct timeline *line, uint64_t g, uint64_t stack);
  void (*charge)(struct timeline *line, uint64_t g, uint64_t ns,
                 uint64_t stack);
  void (*stopped)(struct timeline *line, uint64_t g, bool is_preempted,
                  uint64_t ns);
  void (*range_begin)(struct timeline *line, enum range_kind kind, uint64_t id,
                      struct trace_text name);
  void (*range_end)(struct timeline *line, enum range_kind kind, uint64_t id);
  void (*task_begin)(struct timeline *line, uint64_t g, uint64_t id,
                     uint64_t parent, struct trace_text name);
  void (*task_end)(struct timeline *line, uint64_t g, uint64_t id);
  void (*counter)(struct timeline *line, enum counter_kind kind,
                  uint64_t value);
};

// The first member of the structure of each implementation.
struct timeline {
  const struct timeline_sink *sink;
};

// Sets the current time. The calls that follow happen at this time.
void timeline_at(struct timeline *line, uint64_t ticks);

// Creates thread g. by: the thread that created g; 0: not known. start_stack: a
// stack whose leaf is the function in which g starts. This function becomes the
// name of g.
void timeline_create(struct timeline *line, uint64_t g, uint64_t by,
                     uint64_t start_stack);
// Sets the state of thread g. reason: what g waits for; empty: not known.
// stack: stack of g; 0: not known.
void timeline_state(struct timeline *line, uint64_t g, enum thread_state state,
                    struct trace_text reason, uint64_t stack);
// Ends the wait of thread g, so that g is runnable. by: the thread that woke g;
// 0: not known. stack: the stack of that thread; 0: not known.
void timeline_unblock(struct timeline *line, uint64_t g, uint64_t by,
                      uint64_t stack);
// Records that thread g runs on kernel thread m.
void timeline_kernel_thread(struct timeline *line, uint64_t g, uint64_t m);
// Sets the name that thread g has given itself. This name replaces the name
// that timeline_create has set.
void timeline_name(struct timeline *line, uint64_t g, struct trace_text name);
void timeline_label(struct timeline *line, uint64_t g, struct trace_text label);
void timeline_region_begin(struct timeline *line, uint64_t g,
                           struct trace_text name, uint64_t task,
                           uint64_t stack);
void timeline_region_end(struct timeline *line, uint64_t g);
// Names the lock for which thread g begins to wait next.
void timeline_lock(struct timeline *line, uint64_t g, struct trace_text name);
// Adds a CPU sample of thread g.
void timeline_sample(struct timeline *line, uint64_t g, uint64_t stack);
// Adds an instant (an event without duration) to the timeline of thread g.
// `value` may be empty.
void timeline_instant(struct timeline *line, uint64_t g, const char *category,
                      struct trace_text name, struct trace_text value,
                      uint64_t stack);
// Records that thread g has released a lock for which other threads waited. ns:
// sum of the times that these threads have waited. The time of a thread counts
// from the begin of its wait or from the previous release of the lock,
// whichever was later. stack: stack of g. If timeline_unblock ends a wait at
// the same time and with the same stack, the wait was for this lock.
void timeline_charge(struct timeline *line, uint64_t g, uint64_t ns,
                     uint64_t stack);
// Records that thread g, which runs, had no processor for ns nanoseconds since
// it runs. is_preempted: the scheduler has stopped the thread. Otherwise the
// thread may also have waited for something that the trace does not show.
void timeline_stopped(struct timeline *line, uint64_t g, bool is_preempted,
                      uint64_t ns);
// Begin and end a range. id distinguishes ranges of the same kind. name is
// empty unless the range is a task. A begin is ignored if the range is already
// open. An end is ignored if the range is not open.
void timeline_range_begin(struct timeline *line, enum range_kind kind,
                          uint64_t id, struct trace_text name);
void timeline_range_end(struct timeline *line, enum range_kind kind,
                        uint64_t id);
// Record that thread g begins or ends a task. The range of the task begins or
// ends by another call. parent: the task of which this task is a part; 0: none.
void timeline_task_begin(struct timeline *line, uint64_t g, uint64_t id,
                         uint64_t parent, struct trace_text name);
void timeline_task_end(struct timeline *line, uint64_t g, uint64_t id);
// Sets the counter to value, in bytes.
void timeline_counter(struct timeline *line, enum counter_kind kind,
                      uint64_t value);

#endif
