// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the events of Go's trace formats 1.5 to 1.21 into calls of
// timeline.h.

#ifndef MPROF_TRACE_CONVERT_V1_H
#define MPROF_TRACE_CONVERT_V1_H

struct converter;
struct trace_event;

void convert_v1_event(struct converter *converter,
                      const struct trace_event *event);
// Frees the state that convert_v1_event has allocated. Does nothing if
// convert_v1_event was never called.
void convert_v1_end(struct converter *converter);

#endif
