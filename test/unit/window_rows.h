// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for tests of the time window of a flight recorder. They make rows
// (the records of one thread each) as a recording in the runtime leaves them.

#ifndef MPROF_TEST_UNIT_WINDOW_ROWS_H
#define MPROF_TEST_UNIT_WINDOW_ROWS_H

#include "traces.h"

#include "trace/trace_buf.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"

// A row with a single buffer.
struct trace_row {
  struct mprof_trace_row row;
  struct mprof_trace_buf *buf;
};

static inline void trace_row_init(struct trace_row *r, uint32_t id,
                                  uint64_t ticks, struct trace_row *next) {
  r->buf = calloc(1, MPROF_TRACE_BUF_SIZE);
  CHECK(r->buf);
  r->row.id = id;
  r->row.first = r->row.last = r->buf;
  r->row.next = next ? &next->row : NULL;
  r->buf->ticks = ticks;
}

static inline void trace_row_put(struct trace_row *r,
                                 enum mprof_trace_type type, uint64_t ticks,
                                 size_t n, const uint64_t *args) {
  unsigned char *p = r->buf->data + r->buf->len;
  *p++ = (unsigned char)type;
  p = mprof_trace_put(p, ticks);
  for (size_t i = 0; i < n; i++)
    p = mprof_trace_put(p, args[i]);
  mprof_trace_finish(&r->row, p);
}
// Append a record to a row. ticks is the time since the row's last record. The
// other arguments are the numbers in the record; PUT_NONE has none.
#define PUT(r, type, ticks, ...)                                               \
  trace_row_put(r, MPROF_TRACE_##type, ticks,                                  \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),    \
                (const uint64_t[]){__VA_ARGS__})
#define PUT_NONE(r, type, ticks)                                               \
  trace_row_put(r, MPROF_TRACE_##type, ticks, 0, NULL)

#endif // MPROF_TEST_UNIT_WINDOW_ROWS_H
