// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules that a trace must obey, as listed in rules.def. Reports violations
// of the rules to the visitor, and describes events as text for these reports.

#ifndef MPROF_TRACE_REPORT_H
#define MPROF_TRACE_REPORT_H

#include <stdint.h>

enum trace_rule {
#define TRACE_RULE(id, name, what) TRACE_RULE_##id,
#include "rules.def"
#undef TRACE_RULE
  TRACE_RULE_COUNT
};

struct trace;
struct trace_event;

const char *trace_rule_name(enum trace_rule rule);
const char *trace_rule_text(enum trace_rule rule);

// Prints a violation as a line on standard error. The path and the text cannot
// send commands to the terminal.
void trace_print_violation(const char *path, enum trace_rule rule,
                           uint64_t offset, const char *text);

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
