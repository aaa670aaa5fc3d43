// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread may become ready before the time window of a flight
// recorder's trace and start to run within the window. The trace then shows the
// thread as ready from the begin of the window on. The thread starts at its
// true time. Threads that become ready and start on the same side of the begin
// keep both times.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: for f in 1.5 1.23; do ./app $f $f.trace || exit 1; done
// RUN: %trace_check -q 1.23.trace
// RUN: %go119 tool trace -d app 1.5.trace > /dev/null
// RUN: %trace_print --ticks --thread-numbers 1.23.trace | \
// RUN:   grep -E 'G10[234]' | grep -E 'GoUnblock|GoStart|GoBlockSync' > text
// RUN: FileCheck %s < text && test $(wc -l < text) = 8
//
// CHECK-DAG: {{^}}2000 G102: GoStart{{$}}
// CHECK-DAG: {{^}}2200 G102: GoBlockSync{{$}}
// CHECK-DAG: {{^}}2000 {{.*}}: GoUnblock G103{{$}}
// CHECK-DAG: {{^}}2500 G103: GoStart{{$}}
// CHECK-DAG: {{^}}2600 G103: GoBlockSync{{$}}
// CHECK-DAG: {{^}}2400 {{.*}}: GoUnblock G104{{$}}
// CHECK-DAG: {{^}}3200 G104: GoStart{{$}}
// CHECK-DAG: {{^}}3300 G104: GoBlockSync{{$}}

#include "window_rows.h"

#include "trace/trace.h"

enum { OTHER = 101, BEFORE = 102, BETWEEN = 103, AFTER = 104 };
enum { WINDOW_TICKS = 2000 };
static struct trace_row rows[4];

static void has_thread(struct trace_row *r, uint64_t g, bool waits) {
  r->buf->g = g;
  r->buf->tid = (int)g;
  r->buf->seq = 5;
  r->buf->waits = waits;
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  trace_row_init(&rows[0], 0, WINDOW_TICKS, &rows[1]);
  rows[0].row.is_cut = true;
  has_thread(&rows[0], OTHER, false);
  PUT(&rows[0], HEAP, 10, 4096);
  for (unsigned i = 1; i < 4; i++) {
    trace_row_init(&rows[i], i, 1000, i < 3 ? &rows[i + 1] : NULL);
    has_thread(&rows[i], BEFORE + i - 1, false);
    PUT(&rows[i], BLOCK_COND, 100, 0);
  }
  PUT(&rows[1], START_SELF, 200, 0, 600); // made ready at 1300, starts at 1900
  PUT(&rows[1], BLOCK_SYNC, 300, 0);      // waits from 2200 on
  PUT(&rows[2], START_SELF, 500, 0, 900); // ready at 1600, starts at 2500
  PUT(&rows[2], BLOCK_SYNC, 100, 0);
  PUT(&rows[3], START_SELF, 1300, 0, 800); // ready at 2400, starts at 3200
  PUT(&rows[3], BLOCK_SYNC, 100, 0);
  trace_open(argv[1], argv[2]);
  CHECK_EQ(mprof_trace_write_window(trace_writer, &rows[0].row, 0), 0);
  trace_close();
  return 0;
}
