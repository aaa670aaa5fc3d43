// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a flight recorder's trace, one thread ends a wait or a system call
// that began before the trace. Another thread waits when the time window
// begins. Each format shows both threads being woken later, with valid sequence
// numbers.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: for f in 1.5 1.23; do \
// RUN:   ./app $f waiting.$f.trace 2 && \
// RUN:   ./app $f call.$f.trace 3 || exit 1; done
// RUN: %trace_check *.1.23.trace > counts
// RUN: grep -c ' 2 GoUnblock' counts | grep -x 2
// RUN: for f in *.1.5.trace; do \
// RUN:   %go119 tool trace -d app $f | grep -c GoUnblock | grep -x 2 || exit 1; done

#include "window_rows.h"

#include "entry/entry_lock.h"
#include "trace/trace.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"

enum { WAKER = 101, WAITED = 102, WAITS = 103, BEGIN_TICKS = 1000 };

static struct trace_row rows[3];

static void put_wake(struct trace_row *r, uint64_t ticks, uint64_t g,
                     uint32_t seq) {
  PUT(r, WAKE, ticks, 0);
  unsigned char *p = r->buf->data + r->buf->len;
  while (((uintptr_t)p & 7) != 0)
    p++;
  const uint64_t signed_by = g << 32 | seq;
  memcpy(p, &signed_by, sizeof(signed_by));
  mprof_trace_finish(&r->row, p + sizeof(signed_by));
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 4);
  const uint64_t from = (uint64_t)atoi(argv[3]);
  CHECK(from == MPROF_TRACE_FROM_WAITING || from == MPROF_TRACE_FROM_CALL);
  trace_row_init(&rows[0], 0, BEGIN_TICKS, &rows[1]);
  trace_row_init(&rows[1], 1, BEGIN_TICKS, &rows[2]);
  trace_row_init(&rows[2], 2, BEGIN_TICKS, NULL);
  rows[0].row.is_cut = true;
  rows[0].buf->g = WAKER;
  rows[0].buf->tid = WAKER;
  rows[0].buf->seq = 5;
  rows[2].buf->g = WAITS;
  rows[2].buf->tid = WAITS;
  rows[2].buf->seq = 3;
  rows[2].buf->waits = true;
  PUT(&rows[1], BEGIN, 100, WAITED, WAITED, from, 0);
  PUT(&rows[1], BLOCK_SYNC, 10, 0);
  put_wake(&rows[0], 200, WAITED, from == MPROF_TRACE_FROM_CALL ? 2 : 3);
  PUT_NONE(&rows[1], START, 150);
  put_wake(&rows[0], 100, WAITS, 4);
  PUT_NONE(&rows[2], START, 350);
  trace_open(argv[1], argv[2]);
  CHECK_EQ(mprof_trace_write_window(trace_writer, &rows[0].row, 0), 0);
  trace_close();
  return 0;
}
