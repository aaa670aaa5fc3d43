// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface between the converters, which know the formats, and the
// consumers of a trace, which do not. The converters (convert_v1.c,
// convert_v2.c) call these functions in the order of time. There are two
// implementations, and a tool is linked with one of them: timeline_json.c
// writes JSON, waits.c collects the longest waits.
//
// Ticks have the frequency that the trace has at the time of the call. Texts
// belong to the caller and must stay valid until the timeline is freed. A stack
// id is valid only during the call, because it may have another meaning at the
// next event.

#ifndef MPROF_TRACE_TIMELINE_H
#define MPROF_TRACE_TIMELINE_H

#include "text.h"

#include <stdint.h>

enum thread_state {
  THREAD_ABSENT, // not created yet, or ended
  THREAD_RUNNABLE,
  THREAD_RUNNING,
  THREAD_BLOCKED,
  THREAD_IN_CALL, // in a system call
};

// A range has a begin and an end. Ranges need not nest within a thread's row.
enum range_kind {
  RANGE_TASK,
  RANGE_COLLECTION,
  RANGE_STOP, // a stop of the world
  RANGE_SWEEP,
  RANGE_ASSIST, // a thread assists a collection
  RANGE_KINDS
};

enum counter_kind { COUNTER_HEAP, COUNTER_GOAL, COUNTER_KINDS };

struct timeline;

// Sets the time of all calls that follow.
void timeline_at(struct timeline *line, uint64_t ticks);

// Creates thread g. by: the thread that created g, or 0. The name of g is the
// leaf function of start_stack, in which g starts.
void timeline_create(struct timeline *line, uint64_t g, uint64_t by,
                     uint64_t start_stack);
// Sets the state of a thread. reason: what the thread waits for; empty: not
// known. from_ticks: time when the state began; TRACE_NONE: now.
void timeline_state(struct timeline *line, uint64_t g, enum thread_state state,
                    struct trace_text reason, uint64_t stack,
                    uint64_t from_ticks);
// Ends the wait of thread g. by: the thread that woke g; 0: not known.
void timeline_unblock(struct timeline *line, uint64_t g, uint64_t by,
                      uint64_t stack);
// Records that thread g runs on kernel thread m.
void timeline_kernel_thread(struct timeline *line, uint64_t g, uint64_t m);
// Sets the name that the thread has given itself. It replaces the name of the
// function in which the thread starts.
void timeline_name(struct timeline *line, uint64_t g, struct trace_text name);
void timeline_label(struct timeline *line, uint64_t g, struct trace_text label);
void timeline_region_begin(struct timeline *line, uint64_t g,
                           struct trace_text name, uint64_t task,
                           uint64_t stack);
void timeline_region_end(struct timeline *line, uint64_t g);
// Adds an instant to the thread's row. ticks must not be later than the ticks
// of timeline_at. value may be empty.
void timeline_instant(struct timeline *line, uint64_t g, const char *category,
                      struct trace_text name, struct trace_text value,
                      uint64_t stack, uint64_t ticks);
// Records that thread g has released a lock. ns: sum of the times that other
// threads have waited for the lock since their waits began or since the
// previous release. The waits that end at the same time at the same stack were
// for the lock.
void timeline_charge(struct timeline *line, uint64_t g, uint64_t ns,
                     uint64_t stack);
// Begin and end a range. id distinguishes ranges of the same kind. Only a task
// has a name. The begin of an open range is ignored, and so is the end of a
// range that is not open.
void timeline_range_begin(struct timeline *line, enum range_kind kind,
                          uint64_t id, struct trace_text name);
void timeline_range_end(struct timeline *line, enum range_kind kind,
                        uint64_t id);
// Sets a counter to value, in bytes.
void timeline_counter(struct timeline *line, enum counter_kind kind,
                      uint64_t value);

#endif
