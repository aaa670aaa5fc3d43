// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a trace and calls the functions of timeline.h for its events.

#ifndef MPROF_TRACE_CONVERT_H
#define MPROF_TRACE_CONVERT_H

#include <stdint.h>

struct timeline;
struct trace;

// Reads the whole trace and calls the functions of timeline.h with line. Prints
// the first violations of the trace format on stderr, each after the path, or
// none if path is NULL. Returns the number of violations.
uint64_t convert(const char *path, struct trace *trace, struct timeline *line);
// Does so for a trace without tasks, and prints nothing. Each outermost region
// of a thread becomes a task, too.
void convert_regions_to_tasks(struct trace *trace, struct timeline *line);

#endif
