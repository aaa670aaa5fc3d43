// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Go execution trace that a tool reads. No file of this directory is linked
// into a profiled program. A trace passes through these files:
//
//   open.c          maps the file and finds its version
//   read.c          calls a visitor for every event, in the only order that
//                   rules.def allows
//     v1_*.c        part of read.c for the formats 1.5 to 1.21
//     v2_*.c        part of read.c for the generation format, 1.22 to 1.26
//   table.c         strings and stacks, to which the events refer by ids
//
// The file is mapped, and an event is decoded just before the visitor is called
// for it. So the memory grows with the number of batches, stacks, strings and
// threads, not with the number of events. Only for 1.5, all events are in
// memory at once, because they are sorted.
//
// The reader is not thread-safe. When memory runs out, the tool prints a
// message and exits.

#ifndef MPROF_TRACE_TRACE_H
#define MPROF_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct trace;

// Returns N of "go 1.N trace".
unsigned trace_minor(const struct trace *trace);
// Returns whether the trace has the generation format, whose events are of enum
// trace_v2_type.
bool trace_is_v2(const struct trace *trace);
// Returns the ticks per second. They are not known before the first event.
uint64_t trace_frequency(const struct trace *trace);

#endif
