// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the events of go 1.5 to 1.21 to calls of timeline.h.

#ifndef MPROF_TRACE_CONVERT_V1_H
#define MPROF_TRACE_CONVERT_V1_H

struct converter;
struct trace_event;

void convert_v1_event(struct converter *converter,
                      const struct trace_event *event);
// Frees the memory of the conversion. Does nothing if there was no event.
void convert_v1_end(struct converter *converter);

#endif
