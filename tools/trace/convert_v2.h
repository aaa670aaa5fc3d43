// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the events of Go's trace formats 1.22 to 1.26 into calls of
// timeline.h.

#ifndef MPROF_TRACE_CONVERT_V2_H
#define MPROF_TRACE_CONVERT_V2_H

struct converter;
struct trace_event;

void convert_v2_event(struct converter *converter,
                      const struct trace_event *event);
// Frees the state that convert_v2_event has allocated. Does nothing if
// convert_v2_event was never called.
void convert_v2_end(struct converter *converter);

#endif
