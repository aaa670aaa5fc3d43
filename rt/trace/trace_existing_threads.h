// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads that were there before a session. All with trace_lock held.

#ifndef MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H
#define MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H

#include "trace/trace_types.h"

// Puts the threads that are there into the first row, with what each is doing.
// One that comes or goes meanwhile is seen by itself. 0 or ENOMEM.
int mprof_trace_pre_put(struct mprof_trace_row *r);
// What a thread that comes now was doing then, with its number and what it
// runs; UNKNOWN the second time, or if it was not there.
enum mprof_trace_from mprof_trace_pre_find(int tid, uint64_t *g,
                                           uint32_t *start);
// At the session's end; and in a forked child, which leaves the memory.
void mprof_trace_pre_drop(void);
void mprof_trace_pre_reset(void);

#endif // MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H
