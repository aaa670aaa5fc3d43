// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports violations to the visitor, and writes events as text for them.

#ifndef MPROF_TRACE_REPORT_H
#define MPROF_TRACE_REPORT_H

#include "rules.h"

#include <stdint.h>

struct trace;
struct trace_event;

// Counts a violation and passes its text, one line, to the visitor.
__attribute__((format(printf, 4, 5))) void violate(struct trace *t,
                                                   enum trace_rule rule,
                                                   uint64_t offset,
                                                   const char *format, ...);
// Returns a text such as "GoStart(2, 1) of G 2 on P 1 at tick 9". The text is
// valid until the fourth call after this one.
const char *describe(const struct trace *t, const struct trace_event *ev);
// Returns the name of an event type, or "Unknown" if the trace's version does
// not have the type.
const char *trace_type_name(const struct trace *trace, unsigned type);

#endif
