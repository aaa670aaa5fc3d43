// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an open trace.

#ifndef MPROF_TRACE_READ_H
#define MPROF_TRACE_READ_H

#include "event.h"
#include "report.h"

struct trace;

// The functions that trace_read calls while it reads a trace.
struct trace_visitor {
  // Called for every event, in order. During the call, string ids and stack ids
  // refer to the tables of the event's generation.
  void (*event)(void *context, const struct trace_event *event);
  // Called for every violation of a rule, with the offset in the file and a
  // text of one line.
  void (*violation)(void *context, enum trace_rule rule, uint64_t offset,
                    const char *text);
  void *context;
};

// Reads the trace from its start to its end, and calls the visitor for each
// event and each violation of a rule. Stops early after a violation that makes
// the next event impossible to find. Returns the number of violations. May be
// called several times for one trace.
uint64_t trace_read(struct trace *trace, const struct trace_visitor *visitor);

#endif
