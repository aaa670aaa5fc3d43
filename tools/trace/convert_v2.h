// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the events of go 1.22 to 1.26 to calls of timeline.h.

#ifndef MPROF_TRACE_CONVERT_V2_H
#define MPROF_TRACE_CONVERT_V2_H

struct converter;
struct trace_event;

void convert_v2_event(struct converter *converter,
                      const struct trace_event *event);
// Frees the memory of the conversion. Does nothing if there was no event.
void convert_v2_end(struct converter *converter);

#endif
