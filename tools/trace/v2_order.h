// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the events of Go's trace formats 1.22 to 1.26 into one order.

#ifndef MPROF_TRACE_V2_ORDER_H
#define MPROF_TRACE_V2_ORDER_H

struct trace;

// Reads all generations of the trace and passes their events, in order, to the
// visitor.
void v2_read(struct trace *t);

#endif
