// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules for the events of the formats 1.5 to 1.21, in their order.

#ifndef MPROF_TRACE_V1_RULES_H
#define MPROF_TRACE_V1_RULES_H

struct trace;
struct trace_event;
struct v1_rules;

struct v1_rules *v1_rules_new(struct trace *t);
// Reports the rules that the event breaks.
void v1_rules_event(struct v1_rules *rules, const struct trace_event *ev);
// Reports the rules that the whole trace breaks, and frees rules.
void v1_rules_end(struct v1_rules *rules);

#endif
