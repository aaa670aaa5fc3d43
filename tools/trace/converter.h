// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a conversion from the events of a trace to a timeline, which
// the converters of all formats share.

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
  // NULL until the first event of the format.
  struct convert_v1 *v1;
  struct convert_v2 *v2;
};

// Converts a log event of any format: the name of a thread if the key says so,
// otherwise a message of the program.
void convert_log(struct converter *converter, const struct trace_event *event,
                 struct trace_text key, struct trace_text text);

#endif
