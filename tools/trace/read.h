// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an open trace, of any format.

#ifndef MPROF_TRACE_READ_H
#define MPROF_TRACE_READ_H

#include "visitor.h"

struct trace;

// Reads the trace from its start to its end, or to bytes that the reader
// cannot skip. May be called again. Returns the number of violations.
uint64_t trace_read(struct trace *trace, const struct trace_visitor *visitor);

#endif
