// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a conversion from the events of a trace to a timeline. The
// converters of all formats share this state.

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
  // State of one format's converter. NULL until the first event of the format.
  struct convert_v1 *v1;
  struct convert_v2 *v2;
};

// Converts a log event of any format. The key tells whether text is the name of
// a thread, the charge of a release, or a message of the program.
void convert_log(struct converter *converter, const struct trace_event *event,
                 struct trace_text key, struct trace_text text);

#endif
