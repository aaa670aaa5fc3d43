// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The implementation of timeline.h for mprof-trace2json. It writes JSON.

#ifndef MPROF_TRACE_TIMELINE_JSON_H
#define MPROF_TRACE_TIMELINE_JSON_H

#include <stdint.h>
#include <stdio.h>

struct timeline;
struct trace;

struct timeline_options {
  const char *name; // name of the process
  unsigned frames;  // maximum number of frames written per stack
  // The window, in nanoseconds since the first event. Only the part of the
  // trace in the window is written. A slice that crosses an end of the window
  // is cut there.
  uint64_t from, to;
};

struct timeline *timeline_begin(FILE *out, const struct trace *trace,
                                const struct timeline_options *options);
// Closes open slices, ends the JSON text and frees the timeline. Returns the
// number of slices.
uint64_t timeline_end(struct timeline *line);

#endif
