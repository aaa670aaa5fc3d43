// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the events of the formats 1.5 to 1.21.

#ifndef MPROF_TRACE_V1_ORDER_H
#define MPROF_TRACE_V1_ORDER_H

struct trace;

// Second pass, after v1_scan: passes all events to the rules and the visitor,
// in order.
void v1_order(struct trace *t);

#endif
