// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Format 1.23 of the trace: the format of Go 1.23, the newest format that the
// runtime writes.

#ifndef MPROF_RT_TRACE_WRITE_TRACE_V1_23_H
#define MPROF_RT_TRACE_WRITE_TRACE_V1_23_H

#include "trace/trace_format.h"

extern MPROF_HIDDEN const struct mprof_trace_format mprof_trace_format_1_23;

#endif // MPROF_RT_TRACE_WRITE_TRACE_V1_23_H
