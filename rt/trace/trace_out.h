// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way of a trace from its rows to the file or file descriptor:
//
//   rows -- trace_out.c: when to write, and which buffers
//        -- write_trace.c: the file, with one of the formats
//             trace_records.c: the records of a row as events
//             write_trace_v1_23.c, write_trace_v1_5.c: the events of a format
//        -- trace_window.c: only the newest part, for a flight recorder
//
// During the session, threads write some buffers whenever memory runs short.
// The rest is written when the session ends. A flight recorder keeps only the
// newest part of the trace: it drops its oldest buffers instead. Its trace is
// written at the end of the session or at a snapshot.

#ifndef MPROF_RT_TRACE_TRACE_OUT_H
#define MPROF_RT_TRACE_TRACE_OUT_H

#include "sys/base.h"

struct mprof_trace_row;
struct mprof_trace_writer;

// Writes the samples of the session that are not older than the file's first
// batch. Call this before mprof_trace_write_tail. (trace_samples.c)
void mprof_trace_write_samples(struct mprof_trace_writer *w,
                               uint64_t end_ticks);
// Forgets all samples in a forked child.
void mprof_trace_samples_reset(void);

// The result of writing a file.
struct mprof_trace_result {
  uint64_t events; // number of events in the file
  // 0: the file is complete. Otherwise -errno: the error because of which the
  // oldest part of the trace is missing.
  int cut;
};

// Sets the destination of a new session: the file `path`, or the descriptor fd
// if path is NULL. If path is NULL and fd < 0, the path is determined at the
// end of the session.
void mprof_trace_out_begin(const char *path, int fd);
// Returns the absolute path that was set by mprof_trace_out_begin, or NULL if
// none was set.
const char *mprof_trace_own_path(void);
// Returns the descriptor that was set by mprof_trace_out_begin, or -1 if none
// was set.
int mprof_trace_own_fd(void);
// Converts a time such as "10s" to nanoseconds. Returns 0 if s is not a time.
uint64_t mprof_trace_last_ns(const char *s);
// Makes room for new buffers: writes some of the oldest buffers to the file, or
// drops them if the trace is a flight recorder. Waits if another thread is
// writing buffers, or if the descriptor is a pipe or socket whose reader
// accepts no bytes. until: the time at which the wait ends, in clock ticks; 0:
// no wait. Returns true if there may be room now, or if another call may help.
// Returns false if no room can be made. Call between mprof_trace_enter and
// mprof_trace_leave.
bool mprof_trace_make_room(uint64_t until);
// Returns the time at which a wait for room must end if it begins now. Pass the
// result to mprof_trace_make_room as `until`.
uint64_t mprof_trace_wait_until(void);
// Returns whether the calling thread is in mprof_trace_make_room, such as a
// signal handler that has interrupted it.
bool mprof_trace_is_written_by_self(void);
// Function `abandon` of mprof_guard_hooks: ends the calling thread's record and
// its use of the file.
void mprof_trace_abandon(void);
// Writes the rest of a session, and closes the file. rows: the threads'
// buffers, to which no thread may write any more. path: the file, if
// mprof_trace_out_begin got no destination. *result receives the outcome.
// Returns 0 or the first error as -errno.
int mprof_trace_out_end(struct mprof_trace_row *rows, const char *path,
                        struct mprof_trace_result *result);
// Opens the file of a snapshot: the file at `path`, or the descriptor fd if
// path is NULL. Returns 0 or -errno.
int mprof_trace_out_open(const char *path, int fd);
// Writes a snapshot of a flight recorder to the file that
// mprof_trace_out_open has opened. rows: the threads' buffers. from: time in
// ticks of the trace before which nothing is written. Returns 0 or the first
// error as -errno.
int mprof_trace_out_snapshot(struct mprof_trace_row *rows, const char *path,
                             int fd, uint64_t from,
                             struct mprof_trace_result *result);
// Forgets the open file in a forked child, because the file belongs to the
// parent.
void mprof_trace_out_reset(void);

// --- a trace that the program reads in pieces with mprof_trace_read ---
//
// Call all functions except mprof_trace_reader_news with trace_lock held.

// Prepares for a session whose trace the program reads. After this call,
// mprof_trace_is_read returns true.
void mprof_trace_reader_begin(void);
// Wakes the thread that waits in mprof_trace_read. Call this when a buffer is
// complete or when the session has ended.
void mprof_trace_reader_news(void);
// Passes the rows of an ended session to mprof_trace_read.
void mprof_trace_reader_end(struct mprof_trace_row *rows);
// Resets the reader in a forked child, or when a session could not be started.
void mprof_trace_reader_reset(void);

#endif // MPROF_RT_TRACE_TRACE_OUT_H
