// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an open trace, of any format.

#ifndef MPROF_TRACE_READ_H
#define MPROF_TRACE_READ_H

#include "visitor.h"

struct trace;

// Reads the trace from its start to its end, and calls the visitor for each
// event and violation. Ends early at a violation after which the reader cannot
// find the next event. May be called again. Returns the number of violations.
uint64_t trace_read(struct trace *trace, const struct trace_visitor *visitor);

#endif
