// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a recorder's window there are a thread that comes out of a wait,
// or of a system call, that is older than the trace, and one that the window
// finds waiting; who wakes them later is told with the right numbers in each
// format.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o app
// RUN: for f in 1.5 1.11 1.23; do \
// RUN:   ./app $f waiting.$f.trace 2 && \
// RUN:   ./app $f call.$f.trace 3 || exit 1; done
// RUN: %trace_check *.trace > counts
// RUN: grep -c ' 2 GoUnblock' counts | grep -x 6

#include "traces.h"

enum { WAKER = 101, WAITED = 102, WAITS = 103, BEGIN_TICKS = 1000 };

// A row of one buffer.
struct row {
  struct mprof_trace_row row;
  struct mprof_trace_buf *buf;
};
static struct row rows[3];

static void begin_buf(struct row *r, uint32_t id, struct row *next) {
  r->buf = calloc(1, MPROF_TRACE_BUF_SIZE);
  CHECK(r->buf);
  r->row.id = id;
  r->row.first = r->row.last = r->buf;
  r->row.next = next ? &next->row : NULL;
  r->buf->ticks = BEGIN_TICKS;
}

static void put(struct row *r, enum mprof_trace_type type, uint64_t ticks,
                size_t n, const uint64_t *args) {
  unsigned char *p = r->buf->data + r->buf->len;
  *p++ = (unsigned char)type;
  p = mprof_trace_put(p, ticks);
  for (size_t i = 0; i < n; i++)
    p = mprof_trace_put(p, args[i]);
  mprof_trace_finish(&r->row, p);
}
#define PUT(r, type, ticks, ...)                                               \
  put(r, MPROF_TRACE_##type, ticks,                                            \
      sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),              \
      (const uint64_t[]){__VA_ARGS__})

static void put_wake(struct row *r, uint64_t ticks, uint64_t g, uint32_t seq,
                     uint32_t skipped) {
  PUT(r, WAKE, ticks, 0);
  unsigned char *p = r->buf->data + r->buf->len + MPROF_TRACE_BEFORE_SLOT;
  while (((uintptr_t)p & 7) != 0)
    p++;
  const uint64_t signed_by = g << 32 | seq;
  memcpy(p, &signed_by, sizeof(signed_by));
  memcpy(p - MPROF_TRACE_BEFORE_SLOT, &skipped, sizeof(skipped));
  mprof_trace_finish(&r->row, p + sizeof(signed_by));
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 4);
  const uint64_t from = (uint64_t)atoi(argv[3]);
  CHECK(from == MPROF_TRACE_FROM_WAITING || from == MPROF_TRACE_FROM_CALL);
  begin_buf(&rows[0], 0, &rows[1]);
  begin_buf(&rows[1], 1, &rows[2]);
  begin_buf(&rows[2], 2, NULL);
  rows[0].row.is_cut = true;
  rows[0].buf->g = WAKER;
  rows[0].buf->tid = WAKER;
  rows[0].buf->seq = 9;
  rows[0].buf->skipped = 4;
  rows[2].buf->g = WAITS;
  rows[2].buf->tid = WAITS;
  rows[2].buf->seq = 5;
  rows[2].buf->skipped = 2;
  rows[2].buf->waits = true;
  PUT(&rows[1], BEGIN, 100, WAITED, WAITED, from, 0);
  PUT(&rows[1], BLOCK_SYNC, 10, 0);
  put_wake(&rows[0], 200, WAITED, 4, from == MPROF_TRACE_FROM_CALL ? 2 : 1);
  put(&rows[1], MPROF_TRACE_START, 150, 0, NULL);
  put_wake(&rows[0], 100, WAITS, 6, 2);
  put(&rows[2], MPROF_TRACE_START, 350, 0, NULL);
  trace_open(argv[1], argv[2]);
  CHECK_EQ(mprof_trace_write_window(trace_writer, &rows[0].row, 0), 0);
  trace_close();
  return 0;
}
