// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of file formats of the trace. The option trace_format selects one of
// them.

#ifndef MPROF_RT_TRACE_TRACE_FORMATS_H
#define MPROF_RT_TRACE_TRACE_FORMATS_H

#include "trace/trace_format.h"

// Returns the format that the option trace_format names, or the default format
// if the option names no known format.
const struct mprof_trace_format *mprof_trace_format_chosen(void);

// Prints a message on stderr if the value of trace_format is not a known
// format. Called at program start.
void mprof_trace_format_check(void);

// Returns whether the chosen format allows the runtime to write batches of
// events while the trace session still runs.
bool mprof_trace_format_streams(void);

#endif // MPROF_RT_TRACE_TRACE_FORMATS_H
