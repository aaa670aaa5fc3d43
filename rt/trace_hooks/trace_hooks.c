// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See trace_hooks.h.

#include "trace_hooks/trace_hooks.h"

atomic_uint mprof_trace_session MPROF_START_DATA;
struct mprof_trace_hooks mprof_trace_hooks MPROF_START_DATA;
