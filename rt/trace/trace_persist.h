// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the file of the option persist (persistent.h) lead to the rows of the
// trace, so that mprof recover writes the trace of a killed process. Without
// the option, the functions do nothing. Call them with trace_lock held.

#ifndef MPROF_RT_TRACE_TRACE_PERSIST_H
#define MPROF_RT_TRACE_TRACE_PERSIST_H

#include "trace/trace_types.h"

// Call this before the first row of a session is made. keep_ns: the option
// trace_last.
void mprof_trace_persist_begin(uint64_t keep_ns);
// Makes the file lead to `rows`, the rows of the session, newest first. With
// the first row, also notes what the writer of the trace needs to know.
void mprof_trace_persist_rows(const struct mprof_trace_row *rows);
// Records that the rows belong to an ended session whose file is not written
// yet. Call this when no thread can write to the rows any more.
void mprof_trace_persist_end(void);
// Call this before the rows of an ended session or their buffers are used
// again.
void mprof_trace_persist_forget(const struct mprof_trace_row *rows);

#endif // MPROF_RT_TRACE_TRACE_PERSIST_H
