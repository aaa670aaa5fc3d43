// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consumes a timeline for mprof trace json, which writes JSON.

#ifndef MPROF_TRACE_TIMELINE_JSON_H
#define MPROF_TRACE_TIMELINE_JSON_H

#include "window.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct timeline;
struct trace;

struct timeline_options {
  const char *name; // name of the process in the viewer
  unsigned frames;  // maximum number of frames written per stack
  // Write the stacks as text into the details of each event, instead of once
  // for the whole file.
  bool stacks_as_text;
  // The JSON text may have this many bytes for each event of the trace. When
  // the text is larger, arrows and the points (instants) of short system calls
  // are left out. 0: no limit.
  double bytes_per_event;
  // Only this part of the trace is written. A slice that is open at the begin
  // or at the end of the window is cut there.
  struct trace_window window;
};

struct timeline *timeline_begin(FILE *out, const struct trace *trace,
                                const struct timeline_options *options);
// What timeline_end returns: how many slices were written, and how many arrows
// and points (instants) of short system calls were left out because of
// bytes_per_event.
struct timeline_result {
  uint64_t slices;
  uint64_t arrows_left_out, points_left_out;
};
// Ends all open slices, ends the JSON text and frees the timeline.
struct timeline_result timeline_end(struct timeline *line);

#endif
