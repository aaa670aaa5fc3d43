// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of the trace's formats, and the choice among them by the option
// trace_format.

#ifndef MPROF_RT_TRACE_TRACE_FORMATS_H
#define MPROF_RT_TRACE_TRACE_FORMATS_H

#include "trace/trace_format.h"

// Returns the format that the option trace_format names; the default format if
// it names none.
const struct mprof_trace_format *mprof_trace_format_chosen(void);

// Reports on stderr, at start, a value of trace_format that is no format.
void mprof_trace_format_check(void);

// Returns whether the chosen format allows batches to be written before all
// rows are complete.
bool mprof_trace_format_streams(void);

#endif // MPROF_RT_TRACE_TRACE_FORMATS_H
