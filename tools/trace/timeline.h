// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between the converter and the consumers of a trace. The
// converter (convert.c) knows the trace format and calls the functions of
// timeline.def in the order of time. Each passes the call to the consumer:
// timeline_json.c writes JSON, waits.c collects the longest waits, and tasks.c
// and task_times.c collect tasks.
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
// What a consumer does at each call. A member may be NULL.
struct timeline_sink {
#define EACH(...) __VA_ARGS__
#define CALL(Name, Parameters, Arguments)                                      \
  void (*Name)(struct timeline * line, EACH Parameters);
#include "timeline.def"
};

// The first member of the structure of each consumer.
struct timeline {
  const struct timeline_sink *sink;
};

#define CALL(Name, Parameters, Arguments)                                      \
  static inline void timeline_##Name(struct timeline *line, EACH Parameters) { \
    if (line->sink->Name)                                                      \
      line->sink->Name(line, EACH Arguments);                                  \
  }
#include "timeline.def"
#undef EACH

#endif
