// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an open trace.

#ifndef MPROF_TRACE_READ_H
#define MPROF_TRACE_READ_H

#include "visitor.h"

struct trace;

// Reads the trace from its start to its end, and calls the visitor for each
// event and each violation of a rule. Stops early after a violation that makes
// the next event impossible to find. Returns the number of violations. May be
// called several times for one trace.
uint64_t trace_read(struct trace *trace, const struct trace_visitor *visitor);

#endif
