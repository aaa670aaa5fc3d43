// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The event types of Go's trace formats 1.5 to 1.21, as listed in v1.def.

#ifndef MPROF_TRACE_V1_TYPES_H
#define MPROF_TRACE_V1_TYPES_H

#include <stdbool.h>

enum trace_v1_type {
#define TRACE_V1(number, name, args, stack, since) V1_##name = number,
#include "v1.def"
#undef TRACE_V1
  V1_COUNT
};

// Calls ROW(name) for each event type that begins a wait of a G (a thread),
// except for the waits in system calls.
#define V1_WAITS(ROW)                                                          \
  ROW(GoSleep)                                                                 \
  ROW(GoBlock)                                                                 \
  ROW(GoBlockSend)                                                             \
  ROW(GoBlockRecv)                                                             \
  ROW(GoBlockSelect)                                                           \
  ROW(GoBlockSync)                                                             \
  ROW(GoBlockCond)                                                             \
  ROW(GoBlockNet)                                                              \
  ROW(GoBlockGC)

// Returns the type's name, or "Unknown".
const char *v1_name(unsigned type);
// Returns whether the format of Go 1.minor has this type.
bool v1_is_known(unsigned type, unsigned minor);
// Call the functions below only with types that v1.def lists.
bool v1_has_stack(unsigned type);
// Returns how many numbers a record of this type has in the format of Go
// 1.minor. The numbers are the differences of the sequence number and of the
// time, the arguments and the stack id.
unsigned v1_number_count(unsigned type, unsigned minor);

#endif
