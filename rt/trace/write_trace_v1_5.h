// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format of Go 1.5. All events have one common order, so the file can be
// written only when all rows are complete.

#ifndef MPROF_RT_TRACE_WRITE_TRACE_V1_5_H
#define MPROF_RT_TRACE_WRITE_TRACE_V1_5_H

#include "trace/trace_format.h"

extern const struct mprof_trace_format mprof_trace_format_1_5;

#endif // MPROF_RT_TRACE_WRITE_TRACE_V1_5_H
