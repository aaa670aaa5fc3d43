// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution trace shows what each thread does, on one axis of time. A
// session begins with mprof_trace_start and ends with mprof_trace_stop. During
// a session, the hooks of locks and calls add records to the trace, in addition
// to their work for the profiles. (Go: runtime/trace.go)
//
// In the terms of Go's trace, a thread is a goroutine (G). The number of a G is
// never used again. A row of the picture is a processor (P). A row belongs to
// one thread until the thread ends. Then another thread may take over the row.
// Therefore the trace needs no data from the scheduler, and only one thread at
// a time writes a row.
//
// A thread adds a record between mprof_trace_enter and mprof_trace_leave, with
// the guard set. To end a session, a thread sets the session number to 0,
// issues a memory barrier on all processors, and waits until no thread is
// adding a record. After that, no thread writes the rows.

#ifndef MPROF_RT_TRACE_TRACE_H
#define MPROF_RT_TRACE_TRACE_H

#include "trace/trace_types.h"

// Drops the session in a forked child.
void mprof_trace_reset(void);
// Sets mprof_trace_hooks and mprof_trace_outlet. Called once at program start,
// before other threads can start a session.
void mprof_trace_hooks_init(void);
// Starts a session if the option trace or the option trace_last asks for one.
// Called at program start and in a forked child that is profiled.
void mprof_trace_init(void);
// Returns whether a session has been started and not stopped. *own_path
// receives the path that the program passed to mprof_trace_start, or NULL. Call
// this at the end of the process, with the guard set and writer_lock held.
bool mprof_trace_is_open(const char **own_path);
// Returns whether a session has been started and not stopped. The caller needs
// neither the guard nor a lock.
bool mprof_trace_has_session(void);
// Ends the session and writes the trace to a file. The path that the program
// gave comes first, then the argument path. If both are NULL, the options
// determine the path. Returns 0 or -errno. Call with the guard set and
// writer_lock held.
int mprof_trace_finish_session(const char *path,
                               struct mprof_trace_result *result);

#endif // MPROF_RT_TRACE_TRACE_H
