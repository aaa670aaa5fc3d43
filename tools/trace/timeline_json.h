// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements timeline.h for mprof-trace2json, which writes JSON.

#ifndef MPROF_TRACE_TIMELINE_JSON_H
#define MPROF_TRACE_TIMELINE_JSON_H

#include <stdint.h>
#include <stdio.h>

struct timeline;
struct trace;

struct timeline_options {
  const char *name; // name of the process in the viewer
  unsigned frames;  // maximum number of frames written per stack
  // The time window, in nanoseconds since the first event. Only this part of
  // the trace is written. A slice that is open at from or at to is cut there.
  uint64_t from, to;
};

struct timeline *timeline_begin(FILE *out, const struct trace *trace,
                                const struct timeline_options *options);
// Ends all open slices, ends the JSON text and frees the timeline. Returns the
// number of slices that were written.
uint64_t timeline_end(struct timeline *line);

#endif
