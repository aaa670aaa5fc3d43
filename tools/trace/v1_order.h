// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the events of the formats 1.5 to 1.21.

#ifndef MPROF_TRACE_V1_ORDER_H
#define MPROF_TRACE_V1_ORDER_H

struct trace;

// Reads the trace a second time, after v1_scan. Passes all events, in order, to
// the rules and the visitor.
void v1_order(struct trace *t);

#endif
