// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution trace shows what each thread does on one axis of time. A
// session begins with mprof_trace_start and ends with mprof_trace_stop. During
// a session the entries of locks and calls make records, in addition to their
// work for the profiles. (Go: runtime/trace.go)
//
// In the terms of Go's trace, a thread is a goroutine (G), whose number is
// never used again. The processor (P) that it runs on is a row of the picture.
// A row belongs to one thread until the thread ends, and then to another one.
// So the trace needs no data of the scheduler, and a row has one writer.
//
// A record is made between mprof_trace_enter and mprof_trace_leave, with the
// guard set. The end of a session stores 0 as the session's number, makes all
// processors see it, and waits for the threads that are inside a record. From
// then on no thread writes the rows.

#ifndef MPROF_RT_TRACE_TRACE_H
#define MPROF_RT_TRACE_TRACE_H

#include "trace/trace_types.h"

// Drops the session in a forked child.
void mprof_trace_reset(void);
// Sets the hooks, and begins the session of the option trace, if there is one.
// Called at start and in a forked child that is profiled.
void mprof_trace_init(void);
// Returns whether a session has begun and was not stopped. Stores in *own_path
// the path that the program gave, or NULL. Call at the end of the process, with
// the guard set and writer_lock held.
bool mprof_trace_is_open(const char **own_path);
// Returns whether there is a session at this moment. Needs neither guard nor
// lock.
bool mprof_trace_has_session(void);
// Ends the session and writes it: to the path that the program gave, else to
// path, or if path is NULL to the path that the options give. Returns 0 or
// -errno. Call with the guard set and writer_lock held.
int mprof_trace_finish_session(const char *path,
                               struct mprof_trace_result *result);

#endif // MPROF_RT_TRACE_TRACE_H
