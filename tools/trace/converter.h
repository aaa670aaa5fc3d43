// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a conversion of a trace into calls of timeline.h. The converters
// of all formats share this state.

#ifndef MPROF_TRACE_CONVERTER_H
#define MPROF_TRACE_CONVERTER_H

#include "text.h"

struct convert_v1;
struct convert_v2;
struct timeline;
struct trace;
struct trace_event;

struct converter {
  const struct trace *trace;
  struct timeline *line;
  // State of convert_v1.c and state of convert_v2.c. Each pointer is NULL until
  // the functions of that file convert their first event.
  struct convert_v1 *v1;
  struct convert_v2 *v2;
};

// Converts a log event of any format. If key is "thread.name", text is the name
// of the event's thread. If key is "lock.waited_ns", text is the charge of a
// release (the time that threads have waited for the released lock). Otherwise
// text is a message of the program.
void convert_log(struct converter *converter, const struct trace_event *event,
                 struct trace_text key, struct trace_text text);

#endif
