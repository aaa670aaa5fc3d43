// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution trace: what each thread does on one axis of time. A session
// begins with mprof_trace_start and ends with mprof_trace_stop; while it lasts
// the entries of locks and calls make records besides what they do for the
// profiles. (Go: runtime/trace.go)
//
// In the trace's terms a thread is a goroutine (G), with a number that is never
// used again, and what it runs on, a processor (P), is a row of the picture,
// its own until it ends and then another's. So nothing of the scheduler is
// needed, and a row has one writer.
//
// A record is made between enter and leave, with the guard set. The end of a
// session stores 0 as its number, has all processors see that, and waits for
// the threads that are between the two: from then on the rows are quiet.

#ifndef MPROF_RT_TRACE_TRACE_H
#define MPROF_RT_TRACE_TRACE_H

#include "trace/trace_types.h"

// In a forked child: there is no session.
void mprof_trace_reset(void);
// At start, and in a forked child: begins the session of the option trace.
void mprof_trace_init(void);
// At the end of the process: whether a session has begun and was not stopped,
// and the path that it has of its own, or NULL. writer_lock and guard held.
bool mprof_trace_is_open(const char **own_path);
// The same at this moment, without either.
bool mprof_trace_has_session(void);
// Ends it and writes it, to path if it has none of its own, or if that is NULL
// where the options say. 0 or an errno value. The same held.
int mprof_trace_finish_session(const char *path,
                               struct mprof_trace_result *result);

#endif // MPROF_RT_TRACE_TRACE_H
