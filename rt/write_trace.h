// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a session's rows to a file. trace_format.h has how; this is for who has
// rows to write. All is under trace_lock, or for what is written while the
// session goes on by the thread that has the turn (trace.c).

#ifndef MPROF_RT_WRITE_TRACE_H
#define MPROF_RT_WRITE_TRACE_H

#include "trace.h"
#include "writer.h"

// Where what is written goes.
struct mprof_trace_sink {
  // Takes len bytes; what fails is for whoever has the sink to know.
  void (*put)(void *arg, const void *data, size_t len);
  void *arg;
};

// NULL when there is no memory. The format is that of the option trace_format.
struct mprof_trace_writer;
struct mprof_trace_writer *
mprof_trace_writer_new(const struct mprof_trace_sink *sink,
                       unsigned processors);
void mprof_trace_writer_free(struct mprof_trace_writer *w);
uint64_t mprof_trace_writer_events(const struct mprof_trace_writer *w);
// Of those that it has numbered, which are written by the tail.
size_t mprof_trace_writer_stacks(const struct mprof_trace_writer *w);
// 0 or the first errno value of its own.
int mprof_trace_writer_error(const struct mprof_trace_writer *w);

// Says it if the option trace_format is no format.
void mprof_trace_format_check(void);
// Whether batches can be written before all rows are there.
bool mprof_trace_format_streams(void);

// The file's first bytes; a batch of each buffer, those of a row in their
// order; and the rest. last_ticks: of the last record.
void mprof_trace_write_head(struct mprof_trace_writer *w);
void mprof_trace_write_batch(struct mprof_trace_writer *w,
                             struct mprof_trace_row *r,
                             const struct mprof_trace_buf *b);
void mprof_trace_write_tail(struct mprof_trace_writer *w, uint64_t last_ticks);

// --- trace_window.c ---

// Whether nothing of the rows is missing or older than that.
bool mprof_trace_is_whole(const struct mprof_trace_row *rows,
                          uint64_t wanted_ticks);
// What mprof_trace_write_batch does of all rows, but from a time on. 0 or an
// errno value.
int mprof_trace_write_window(struct mprof_trace_writer *w,
                             struct mprof_trace_row *rows,
                             uint64_t wanted_ticks);

#endif // MPROF_RT_WRITE_TRACE_H
