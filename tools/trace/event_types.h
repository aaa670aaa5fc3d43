// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The event types of Go's trace formats 1.22 to 1.26, as listed in
// event_types.def.

#ifndef MPROF_TRACE_EVENT_TYPES_H
#define MPROF_TRACE_EVENT_TYPES_H

#include <stdbool.h>

enum trace_event_type {
#define TRACE_EVENT_TYPE(number, name, args, stack, strings, since)            \
  EV_##name = number,
#include "event_types.def"
#undef TRACE_EVENT_TYPE
  EV_COUNT
};

// Returns the type's name, or "Unknown".
const char *event_type_name(unsigned type);
// Returns whether the format of Go 1.`minor` has this type and the type is that
// of an event. Only events begin with the time since the previous event.
bool event_type_is_timed(unsigned type, unsigned minor);
// Call the functions below only with types for which event_type_is_timed
// returns true.
unsigned event_type_arg_count(unsigned type);
// Returns which argument is the stack id, counted from 1. Returns 0 if no
// argument is a stack id.
unsigned event_type_stack_arg(unsigned type);
// Returns whether the argument at the position `number` (the first is 1) of an
// event of this type is a string id.
bool event_type_is_string_arg(unsigned type, unsigned number);

#endif
