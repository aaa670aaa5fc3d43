// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread creates a second thread and ends. The kernel then gives the
// tid of the ended thread to the second thread. The trace is valid in each
// format, although the events of the second thread are written first.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: for f in 1.5 1.23; do ./app $f $f.trace || exit 1; done
// RUN: %trace_check -q 1.23.trace
// RUN: %go119 tool trace -d app 1.5.trace > /dev/null

#include "traces.h"

#include "trace/trace_records.h"

enum { FIRST = 1, SECOND = 2, TID = 100 };

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  trace_open(argv[1], argv[2]);
  trace_begin_row(1, 1000);
  RECORD(BEGIN, 30, SECOND, TID, MPROF_TRACE_FROM_CREATE, 0);
  RECORD(END, 10);
  trace_end_row();
  trace_begin_row(0, 1000);
  RECORD(BEGIN, 0, FIRST, TID, MPROF_TRACE_FROM_UNKNOWN, 0);
  RECORD(CREATE, 10, SECOND, 0, 0);
  RECORD(END, 10);
  trace_end_row();
  trace_close();
  return 0;
}
