// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The spans of a trace's page: the tasks, regions, labels and messages of the
// program. Times are in nanoseconds since the begin of the trace, and names are
// numbers in the page's table of texts, where 0 is the empty text.

#ifndef MPROF_TOOL_TRACE_SPANS_H
#define MPROF_TOOL_TRACE_SPANS_H

#include "common/idmap.h"
#include "trace/timeline.h"
#include "trace/window.h"

#include <stddef.h>
#include <stdio.h>

struct span {
  uint64_t begin, end;
  size_t thread, name, value;
  unsigned kind, depth; // depth: the number of regions around a region
  bool is_open;
  size_t outer; // the region around it: its index + 1, or 0
};

// The innermost open region of a thread, and its label: index + 1, or 0.
struct span_thread {
  size_t region, label;
};

struct spans {
  struct span *items;
  size_t count, capacity;
  struct span_thread *threads;
  size_t thread_count, thread_capacity;
  struct idmap ids[RANGE_KINDS];
  size_t *ranges; // the latest span of each range
  size_t range_count, range_capacity;
};

void spans_region_begin(struct spans *s, uint64_t now, size_t thread,
                        size_t name);
void spans_region_end(struct spans *s, uint64_t now, size_t thread);
// Ends the thread's label and begins a new one, unless name is 0.
void spans_label(struct spans *s, uint64_t now, size_t thread, size_t name);
void spans_message(struct spans *s, uint64_t now, size_t thread, size_t name,
                   size_t value);
void spans_range_begin(struct spans *s, uint64_t now, enum range_kind kind,
                       uint64_t id, size_t name);
void spans_range_end(struct spans *s, uint64_t now, enum range_kind kind,
                     uint64_t id);
// Writes the spans of the window as a member of an object of JSON, with times
// since window.from. Open spans end at window.to. Of several neighbours of a
// thread that are shorter than `shortest` and as near, only the first is
// written. Writes nothing if out is NULL. Returns the number of spans.
size_t spans_write(const struct spans *s, struct trace_window window,
                   uint64_t shortest, FILE *out);
void spans_clear(struct spans *s);

#endif
