// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Go execution trace that a tool reads. No file of this directory is linked
// into a profiled program. These files read a trace:
//
//   open.c          maps the file and finds its format
//   read.c          calls a visitor for every event, in an order that obeys
//                   rules.def
//   scan.c          decodes the bytes of the formats of Go 1.22 to 1.26
//   states.c        decides which event can come next
//   table.c         stores strings and stacks, to which the events refer by ids
//
// The reader decodes each event just before the call of the visitor. So memory
// grows with the number of batches, stacks, strings and threads, not with the
// number of events.
//
// The reader is not thread-safe. When memory runs out, the tool prints a
// message and exits.

#ifndef MPROF_TRACE_TRACE_H
#define MPROF_TRACE_TRACE_H

#include <stdint.h>

struct trace;

// Returns N of the trace's header, which is "go 1.N trace".
unsigned trace_minor(const struct trace *trace);
// Returns the ticks per second. The result is valid from the first event on.
uint64_t trace_frequency(const struct trace *trace);

#endif
