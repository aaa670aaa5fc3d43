// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The event types of the generation format (1.22 to 1.26), as listed in v2.def.

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
// Returns whether go 1.minor has this type and writes it with a time.
bool v2_is_timed(unsigned type, unsigned minor);
// The functions below are for types that are written with a time.
unsigned v2_arg_count(unsigned type);
// Returns the number of the argument that is the stack id, from 1; 0: none.
unsigned v2_stack_arg(unsigned type);
// Returns whether the argument with this number, from 1, is a string id.
bool v2_is_string_arg(unsigned type, unsigned number);

#endif
