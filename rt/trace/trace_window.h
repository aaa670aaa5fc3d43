// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The newest part of a trace.

#ifndef MPROF_RT_TRACE_TRACE_WINDOW_H
#define MPROF_RT_TRACE_TRACE_WINDOW_H

#include "trace/trace_types.h"

struct mprof_trace_writer;

// Whether nothing of the rows is missing or older than that.
bool mprof_trace_is_whole(const struct mprof_trace_row *rows,
                          uint64_t wanted_ticks);
// What mprof_trace_write_batch does of all rows, but from a time on. 0 or an
// errno value.
int mprof_trace_write_window(struct mprof_trace_writer *w,
                             struct mprof_trace_row *rows,
                             uint64_t wanted_ticks);

#endif // MPROF_RT_TRACE_TRACE_WINDOW_H
