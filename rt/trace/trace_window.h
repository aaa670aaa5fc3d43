// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the window of a flight recorder: the newest part of the trace. All
// times are in ticks of the trace.

#ifndef MPROF_RT_TRACE_TRACE_WINDOW_H
#define MPROF_RT_TRACE_TRACE_WINDOW_H

#include "sys/base.h"

struct mprof_trace_row;
struct mprof_trace_writer;

// Returns whether all records are at wanted_ticks or later, and no buffer was
// dropped. If so, the caller can write the whole trace instead of a window.
bool mprof_trace_is_whole(const struct mprof_trace_row *rows,
                          uint64_t wanted_ticks);
// Writes the records of all rows from the time wanted_ticks on. The file begins
// later if buffers with records after wanted_ticks were dropped. Returns 0 or
// -errno.
int mprof_trace_write_window(struct mprof_trace_writer *w,
                             struct mprof_trace_row *rows,
                             uint64_t wanted_ticks);

#endif // MPROF_RT_TRACE_TRACE_WINDOW_H
