// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trace that the program itself reads piece by piece, with mprof_trace_read.
// All functions but mprof_trace_reader_news are called with trace_lock held.

#ifndef MPROF_RT_TRACE_TRACE_READER_H
#define MPROF_RT_TRACE_TRACE_READER_H

#include "trace/trace_types.h"

// Begins the trace of a session that begins. From then on mprof_trace_is_read
// returns true.
void mprof_trace_reader_begin(void);
// Wakes the reader: a buffer is complete, or the session has ended.
void mprof_trace_reader_news(void);
// Hands over the rows of the session, which has ended, for the reader to take.
void mprof_trace_reader_end(struct mprof_trace_row *rows);
// Forgets the reader in a forked child, or when a session could not begin.
void mprof_trace_reader_reset(void);

#endif // MPROF_RT_TRACE_TRACE_READER_H
