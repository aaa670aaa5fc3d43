// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports violations of the rules in rules.def to the visitor, and describes
// events as text for these reports.

#ifndef MPROF_TRACE_REPORT_H
#define MPROF_TRACE_REPORT_H

#include "rules.h"

#include <stdint.h>

struct trace;
struct trace_event;

// Counts a violation of the rule and passes the violation to t->visitor.
// offset: where in the file the violation is. format: text of one line, with
// arguments like those of printf.
__attribute__((format(printf, 4, 5))) void violate(struct trace *t,
                                                   enum trace_rule rule,
                                                   uint64_t offset,
                                                   const char *format, ...);
// Returns a text such as "GoStart(2, 1) of G 2 on P 1 at tick 9". The text
// stays valid during the next three calls, because there are four static
// buffers.
const char *describe(const struct trace_event *ev);

#endif
