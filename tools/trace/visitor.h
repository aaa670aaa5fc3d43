// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the reader of a trace calls.

#ifndef MPROF_TRACE_VISITOR_H
#define MPROF_TRACE_VISITOR_H

#include "event.h"
#include "rules.h"

struct trace_visitor {
  // Called for every event, in order. Strings and stacks are those of the
  // event's generation.
  void (*event)(void *context, const struct trace_event *event);
  // Called for every violation, with a text of one line.
  void (*violation)(void *context, enum trace_rule rule, uint64_t offset,
                    const char *text);
  void *context;
};

#endif
