// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the events of Go's trace formats 1.5 to 1.21 into one order.

#ifndef MPROF_TRACE_V1_ORDER_H
#define MPROF_TRACE_V1_ORDER_H

struct trace;

// Reads the trace a second time, after v1_scan. Passes all events, in order, to
// v1_rules_event and to the visitor.
void v1_order(struct trace *t);

#endif
