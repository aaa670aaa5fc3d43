// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the trace to its file or descriptor: parts of it while the session
// goes on, when buffers run out, and the rest at the session's end. A recorder
// drops its oldest buffers instead and is written at the end or at a snapshot.

#ifndef MPROF_RT_TRACE_TRACE_OUT_H
#define MPROF_RT_TRACE_TRACE_OUT_H

#include "trace/trace_types.h"

// Takes the destination of a session that begins: a path; or a descriptor, if
// path is NULL; or neither (fd < 0), and then the end of the session gives a
// path.
void mprof_trace_write_begin(const char *path, int fd);
// Returns the path that the session began with, or NULL.
const char *mprof_trace_own_path(void);
// Converts a time such as "10s" to nanoseconds. Returns 0 if s is no time.
uint64_t mprof_trace_last_ns(const char *s);
// Makes room for new buffers: writes some of the oldest ones, or drops them if
// the trace is a recorder. If another thread is doing that, or a reader of the
// descriptor takes nothing, waits until the time of the clock `until`, in
// ticks; 0: does not wait. Returns true if there may be room now, or if another
// call may help; false if no room can be made. Call between mprof_trace_enter
// and mprof_trace_leave.
bool mprof_trace_make_room(struct mprof_trace_row *rows, uint64_t until);
// Returns the time until which a thread that begins to wait now may wait.
uint64_t mprof_trace_wait_until(void);
// Writes the rest of a session whose rows no thread writes any more. Returns 0
// or the first -errno.
int mprof_trace_write_end(struct mprof_trace_row *rows, const char *path,
                          struct mprof_trace_result *result);
// Opens the file of a snapshot. Returns 0 or -errno.
int mprof_trace_write_open(const char *path);
// Writes the rows that a snapshot has taken from a recorder to the file that
// mprof_trace_write_open has opened. Returns 0 or the first -errno.
int mprof_trace_write_snapshot(struct mprof_trace_row *rows, const char *path,
                               struct mprof_trace_result *result);
// Removes a row's first buffer and frees it.
void mprof_trace_take_first(struct mprof_trace_row *r);
// Forgets the file in a forked child: it is the parent's.
void mprof_trace_write_reset(void);

#endif // MPROF_RT_TRACE_TRACE_OUT_H
