// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that trace_read calls while it reads a trace.

#ifndef MPROF_TRACE_VISITOR_H
#define MPROF_TRACE_VISITOR_H

#include "event.h"
#include "rules.h"

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

#endif
