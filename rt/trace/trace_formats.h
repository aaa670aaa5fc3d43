// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formats of a trace, and the one that the option trace_format chooses.

#ifndef MPROF_RT_TRACE_TRACE_FORMATS_H
#define MPROF_RT_TRACE_TRACE_FORMATS_H

#include "trace/trace_format.h"

// The format of the option trace_format.
const struct mprof_trace_format *mprof_trace_format_chosen(void);

// Says it if the option trace_format is no format.
void mprof_trace_format_check(void);

// Whether batches can be written before all rows are there.
bool mprof_trace_format_streams(void);

#endif // MPROF_RT_TRACE_TRACE_FORMATS_H
