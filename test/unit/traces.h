// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for tests of the writers of traces. They write a trace, in any
// format, of records that the test makes up.

#ifndef MPROF_TEST_UNIT_TRACES_H
#define MPROF_TEST_UNIT_TRACES_H

#include "core.h"
#include "writer.h"

#include "options/flags.h"
#include "trace/trace_records.h"
#include "trace/write_trace.h"

#include <stdio.h>
#include <string.h>

static struct mprof_trace_writer *trace_writer;
static struct mprof_trace_written trace_rows[8];
static unsigned trace_row;

static void trace_put(void *arg, const void *data, size_t len) {
  CHECK_EQ(fwrite(data, 1, len, arg), len);
}

static inline void trace_open(const char *format, const char *path) {
  const struct mprof_trace_sink sink = {trace_put, fopen(path, "w")};
  CHECK(sink.arg);
  strcpy(mprof_flags.trace_format, format);
  trace_writer = mprof_trace_writer_new(&sink, 2);
  CHECK(trace_writer);
  trace_rows[0].is_first = true;
}

// The following records belong to the row (the records of one thread), up to
// trace_end_row. ticks is the time from which the first record counts.
static inline void trace_begin_row(unsigned row, uint64_t ticks) {
  trace_row = row;
  trace_writer->format->begin_batch(trace_writer, &trace_rows[row], row, ticks);
}

static inline void trace_end_row(void) {
  trace_writer->format->end_batch(trace_writer);
}

// Writes a record of the current row. ticks is the time since the row's last
// record.
#define RECORD(type, ticks, ...)                                               \
  mprof_trace_write_record(                                                    \
      trace_writer, &trace_rows[trace_row],                                    \
      &(const struct mprof_trace_record){                                      \
          MPROF_TRACE_##type, ticks, {__VA_ARGS__}, NULL})

static inline void trace_close(void) {
  writer_enter(); // needed to symbolize
  mprof_trace_write_tail(trace_writer, 1000000);
  writer_leave();
  CHECK_EQ(trace_writer->error, 0);
  CHECK_EQ(fclose(trace_writer->sink.arg), 0);
  mprof_trace_writer_free(trace_writer);
}

#endif // MPROF_TEST_UNIT_TRACES_H
