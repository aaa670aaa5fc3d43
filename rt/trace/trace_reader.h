// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trace that the program reads in pieces with mprof_trace_read. Call all
// functions except mprof_trace_reader_news with trace_lock held.

#ifndef MPROF_RT_TRACE_TRACE_READER_H
#define MPROF_RT_TRACE_TRACE_READER_H

#include "trace/trace_types.h"

// Prepares for a session whose trace the program reads. After this call,
// mprof_trace_is_read returns true.
void mprof_trace_reader_begin(void);
// Wakes the thread that waits in mprof_trace_read. Call this when a buffer is
// complete or when the session has ended.
void mprof_trace_reader_news(void);
// Passes the rows (the threads' lists of buffers) of an ended session to
// mprof_trace_read.
void mprof_trace_reader_end(struct mprof_trace_row *rows);
// Resets the reader in a forked child, or when a session could not be started.
void mprof_trace_reader_reset(void);

#endif // MPROF_RT_TRACE_TRACE_READER_H
