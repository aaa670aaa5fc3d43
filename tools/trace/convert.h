// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the events of a format to the timeline.

#ifndef MPROF_TRACE_CONVERT_H
#define MPROF_TRACE_CONVERT_H

#include "timeline.h"
#include "trace.h"

struct converter {
  const struct trace *trace;
  struct timeline *line;
  // Made with the first event, by who uses it.
  struct convert_v1 *v1;
  struct convert_v2 *v2;
};

// convert.c: reads the whole trace into the timeline. Prints the first things
// that are wrong with it on stderr, after the path. Returns how many there are.
uint64_t convert(const char *path, struct trace *trace, struct timeline *line);

// A message of the program, or the name of a thread, which is one to the
// formats.
void convert_log(struct converter *converter, const struct trace_event *event,
                 struct trace_text key, struct trace_text text);

// convert_v1.c: go 1.5 to 1.21
void convert_v1_event(struct converter *converter,
                      const struct trace_event *event);
void convert_v1_end(struct converter *converter);

// convert_v2.c: go 1.22 to 1.26
void convert_v2_event(struct converter *converter,
                      const struct trace_event *event);
void convert_v2_end(struct converter *converter);

#endif
