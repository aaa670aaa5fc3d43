// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The event types of Go's trace formats 1.22 to 1.26, as listed in v2.def.

#ifndef MPROF_TRACE_V2_TYPES_H
#define MPROF_TRACE_V2_TYPES_H

#include <stdbool.h>

enum trace_v2_type {
#define TRACE_V2(number, name, args, stack, strings, since) V2_##name = number,
#include "v2.def"
#undef TRACE_V2
  V2_COUNT
};

// Returns the type's name, or "Unknown".
const char *v2_name(unsigned type);
// Returns whether the format of Go 1.`minor` has this type and the type is that
// of an event. Only events begin with the time since the previous event.
bool v2_is_timed(unsigned type, unsigned minor);
// Call the functions below only with types for which v2_is_timed returns true.
unsigned v2_arg_count(unsigned type);
// Returns which argument is the stack id, counted from 1. Returns 0 if no
// argument is a stack id.
unsigned v2_stack_arg(unsigned type);
// Returns whether the argument at the position `number` (the first is 1) of an
// event of this type is a string id.
bool v2_is_string_arg(unsigned type, unsigned number);

#endif
