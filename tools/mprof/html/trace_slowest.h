// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slowest tasks of a trace's page, or its slowest outermost regions, and
// what their time went to, as mprof latency prints it.

#ifndef MPROF_TOOL_TRACE_SLOWEST_H
#define MPROF_TOOL_TRACE_SLOWEST_H

#include "trace/task_latency.h"

#include <stdio.h>

// Writes the tasks as a member of an object of JSON, with times since
// window.from.
void slowest_write(const struct latency *l, struct trace_window window,
                   FILE *out);

#endif
