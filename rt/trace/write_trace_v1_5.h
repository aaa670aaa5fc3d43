// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Format 1.5 of the trace: the format of Go 1.5. The events of all threads are
// numbered in one sequence, so the file can be written only after the session.

#ifndef MPROF_RT_TRACE_WRITE_TRACE_V1_5_H
#define MPROF_RT_TRACE_WRITE_TRACE_V1_5_H

#include "trace/trace_format.h"

extern MPROF_HIDDEN const struct mprof_trace_format mprof_trace_format_1_5;

#endif // MPROF_RT_TRACE_WRITE_TRACE_V1_5_H
