// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trace that the program takes by mprof_trace_read.

#ifndef MPROF_RT_TRACE_TRACE_READER_H
#define MPROF_RT_TRACE_TRACE_READER_H

#include "trace/trace_types.h"

void mprof_trace_reader_begin(void); // see mprof_trace_is_read
void mprof_trace_reader_news(void);  // a buffer is complete
void mprof_trace_reader_end(struct mprof_trace_row *rows);
// In a forked child.
void mprof_trace_reader_reset(void);

#endif // MPROF_RT_TRACE_TRACE_READER_H
