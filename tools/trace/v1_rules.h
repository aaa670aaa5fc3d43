// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the rules for the order and the consistency of the events in Go's
// trace formats 1.5 to 1.21.

#ifndef MPROF_TRACE_V1_RULES_H
#define MPROF_TRACE_V1_RULES_H

struct trace;
struct trace_event;
struct v1_rules;

struct v1_rules *v1_rules_new(struct trace *t);
// Reports each rule that the event breaks. Call this for all events in their
// order.
void v1_rules_event(struct v1_rules *rules, const struct trace_event *ev);
// Reports a violation if the trace has no Gomaxprocs event. Then frees rules.
void v1_rules_end(struct v1_rules *rules);

#endif
