// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution trace shows what each thread does over time. A session begins
// with mprof_trace_start and ends with mprof_trace_stop. During a session, the
// functions that count waits and allocations for the profiles also add records
// to the trace. (Go: runtime/trace.go)
//
// Go's trace shows goroutines (G) that run on processors (P). In MProf's trace,
// each thread is a G, and the number of a G is never reused. A P is a row
// (struct mprof_trace_row), which belongs to one thread until the thread ends.
// The trace needs no data from the scheduler, because a thread keeps its row as
// long as it lives.
//
// A thread adds a record between mprof_trace_enter and mprof_trace_leave, with
// the recursion guard set (tls.h). To end a session, a thread sets the session
// number to 0 and issues a memory barrier on all processors. Then this thread
// waits until no thread is adding a record. After that, no thread writes to the
// rows.

#ifndef MPROF_RT_TRACE_TRACE_H
#define MPROF_RT_TRACE_TRACE_H

#include "trace/trace_out.h"

// Called in a forked child: resets the variables of the trace, as if no trace
// session had been started. The session belongs to the parent.
void mprof_trace_reset(void);
// Sets the function pointers in mprof_trace_outlet, and in mprof_guard_hooks
// (tls.h). Called once at program start, before other threads can start a
// session.
void mprof_trace_outlet_init(void);
// Starts a session if the option trace or the option trace_last asks for one.
// Called at program start and in a forked child that is profiled.
void mprof_trace_init(void);
// Returns whether a trace session was started and not stopped. Sets *own_path
// to the path that the program passed to mprof_trace_start, or to NULL. Call
// this at the end of the process, with the recursion guard set and writer_lock
// held.
bool mprof_trace_is_open(const char **own_path);
// Returns whether a trace session was started and not stopped. The caller needs
// neither the recursion guard nor a lock.
bool mprof_trace_has_session(void);
// Starts a session whose trace is written to the regular file fd. Returns 0,
// -EBUSY while another session runs, or another -errno. Call with the recursion
// guard set.
int mprof_trace_begin_session(int fd);
// Returns whether a session runs that was started with this descriptor.
bool mprof_trace_has_session_of(int fd);
// Ends the session and writes the trace to the file that the program gave when
// it started the session. If the program gave no file, writes to `path`. If
// path is NULL, the options determine the file. *result receives the outcome.
// Returns 0 or -errno. Call with the recursion guard set and writer_lock held.
int mprof_trace_finish_session(const char *path,
                               struct mprof_trace_result *result);
// Writes the newest part of the trace of a flight recorder to the regular file
// fd, as mprof_trace_snapshot does. Returns 0; -ESRCH if there is no trace;
// -ENOTSUP if the trace is no flight recorder; or another -errno. Call with the
// recursion guard set and writer_lock held.
int mprof_trace_snapshot_to(int fd);
// Writes the part of the trace of a flight recorder from the time `ticks` on,
// in ticks of the trace, to the file at `path`. Returns and needs the same.
int mprof_trace_snapshot_from(const char *path, uint64_t ticks);

#endif // MPROF_RT_TRACE_TRACE_H
