// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a trace is written, and where to.

#ifndef MPROF_RT_TRACE_TRACE_OUT_H
#define MPROF_RT_TRACE_TRACE_OUT_H

#include "trace/trace_types.h"

// A session begins, for a path or, if that is NULL, for a descriptor; neither:
// for the path that its end gives.
void mprof_trace_write_begin(const char *path, int fd);
const char *mprof_trace_own_path(void);
// What "10s" is, 0 if it is nothing.
uint64_t mprof_trace_last_ns(const char *s);
// Makes room by writing some of the oldest buffers, or a recorder by dropping
// them, unless another thread does; waits for that one, and for the reader of a
// descriptor, if until is not 0: for a reader until then at most, in ticks of
// the clock. True: there may be room, or is worth another call; false if there
// is none to be made. Between enter and leave.
bool mprof_trace_make_room(struct mprof_trace_row *rows, uint64_t until);
// How long a thread may wait that begins to wait now.
uint64_t mprof_trace_wait_until(void);
// Writes the rest when all is quiet. 0 or the first errno value.
int mprof_trace_write_end(struct mprof_trace_row *rows, const char *path,
                          struct mprof_trace_result *result);
// Opens the file of a snapshot. 0 or an errno value.
int mprof_trace_write_open(const char *path);
// The same of a recorder's rows that are no session's any more.
int mprof_trace_write_snapshot(struct mprof_trace_row *rows, const char *path,
                               struct mprof_trace_result *result);
// Frees a row's first buffer.
void mprof_trace_take_first(struct mprof_trace_row *r);
// In a forked child.
void mprof_trace_write_reset(void);

#endif // MPROF_RT_TRACE_TRACE_OUT_H
