// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads over time. A format's own way (convert_v1.c, convert_v2.c) tells what
// happens in the order of time. What becomes of it is one of two things, and a
// tool is linked with one of them: timeline.c writes JSON, waits.c keeps the
// longest waits. Neither knows anything of the formats.
//
// Ticks are those of the trace at that moment. Texts stay the caller's and must
// live until the end, as those of the trace do; what stack ids stand for may
// change from event to event.

#ifndef MPROF_TRACE_TIMELINE_H
#define MPROF_TRACE_TIMELINE_H

#include "trace.h"

#include <stdio.h>

enum thread_state {
  THREAD_ABSENT, // not created, or ended
  THREAD_RUNNABLE,
  THREAD_RUNNING,
  THREAD_BLOCKED,
  THREAD_IN_CALL,
};

// What lasts for a time and need not nest in a thread's row.
enum range_kind {
  RANGE_TASK,
  RANGE_COLLECTION,
  RANGE_STOP, // of the world
  RANGE_SWEEP,
  RANGE_ASSIST, // of a collection by a thread
  RANGE_KINDS
};

enum counter_kind { COUNTER_HEAP, COUNTER_GOAL, COUNTER_KINDS };

struct timeline;

// Every call below happens at the ticks given last.
void timeline_at(struct timeline *line, uint64_t ticks);

// The thread starts in the function at the root of start_stack's leaf; by is
// the creator or 0.
void timeline_create(struct timeline *line, uint64_t g, uint64_t by,
                     uint64_t start_stack);
// reason: what the thread waits for, empty if not known. from_ticks: when the
// state began if that was earlier, else TRACE_NONE.
void timeline_state(struct timeline *line, uint64_t g, enum thread_state state,
                    struct trace_text reason, uint64_t stack,
                    uint64_t from_ticks);
// g stops waiting; by woke it, 0: nobody known.
void timeline_unblock(struct timeline *line, uint64_t g, uint64_t by,
                      uint64_t stack);
// The thread runs on kernel thread m.
void timeline_kernel_thread(struct timeline *line, uint64_t g, uint64_t m);
// What the thread calls itself, instead of the function that it starts in.
void timeline_name(struct timeline *line, uint64_t g, struct trace_text name);
void timeline_label(struct timeline *line, uint64_t g, struct trace_text label);
void timeline_region_begin(struct timeline *line, uint64_t g,
                           struct trace_text name, uint64_t task,
                           uint64_t stack);
void timeline_region_end(struct timeline *line, uint64_t g);
// A point of the thread's row, now or earlier; value may be empty.
void timeline_instant(struct timeline *line, uint64_t g, const char *category,
                      struct trace_text name, struct trace_text value,
                      uint64_t stack, uint64_t ticks);
// id tells ranges of a kind apart; name is a task's. The end of a range that
// is not open, and the beginning of one that is, are taken for nothing.
void timeline_range_begin(struct timeline *line, enum range_kind kind,
                          uint64_t id, struct trace_text name);
void timeline_range_end(struct timeline *line, enum range_kind kind,
                        uint64_t id);
// Bytes.
void timeline_counter(struct timeline *line, enum counter_kind kind,
                      uint64_t value);

#define TEXT(literal) ((struct trace_text){literal, sizeof literal - 1})

// --- timeline.c ---

struct timeline_options {
  const char *name; // of the process
  unsigned frames;  // so many of a stack are written
  // The window: only this is written, and what goes on at its ends is cut.
  // Nanoseconds since the first event.
  uint64_t from, to;
};

struct timeline *timeline_begin(FILE *out, const struct trace *trace,
                                const struct timeline_options *options);
// Closes what is open and ends the text. Returns the number of slices.
uint64_t timeline_end(struct timeline *line);

#endif
