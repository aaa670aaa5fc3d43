// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the events of the generation format, go 1.22 to 1.26.

#ifndef MPROF_TRACE_V2_ORDER_H
#define MPROF_TRACE_V2_ORDER_H

struct trace;

// Passes all events of all generations to the visitor, in order.
void v2_read(struct trace *t);

#endif
