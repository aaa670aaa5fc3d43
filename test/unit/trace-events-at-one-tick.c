// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace is valid in each format even if threads create and wake each
// other within one clock tick. This holds although the events of the created
// thread are written first.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: for f in 1.5 1.23; do ./app $f $f.trace || exit 1; done
// RUN: %trace_check -q 1.23.trace
// RUN: %go119 tool trace -d app 1.5.trace > /dev/null

#include "traces.h"

#include "entry/entry_lock.h"
#include "trace/trace_records.h"

enum { FIRST = 1, SECOND = 2 };

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  trace_open(argv[1], argv[2]);
  trace_begin_row(1, 1000);
  RECORD(BEGIN, 0, SECOND, 102, MPROF_TRACE_FROM_CREATE, 0);
  RECORD(CALL, 0, 0);
  RECORD(WAKE, 0, 0, FIRST, 2, 0);
  RECORD(BLOCK_COND, 0, 0);
  RECORD(START, 0);
  RECORD(CALL_LONG, 0, 0, 0);
  RECORD(END, 0);
  trace_end_row();
  trace_begin_row(0, 1000);
  RECORD(BEGIN, 0, FIRST, 101, MPROF_TRACE_FROM_UNKNOWN, 0);
  RECORD(CREATE, 0, SECOND, 0, 0);
  RECORD(BLOCK_SYNC, 0, 0);
  RECORD(START, 0);
  RECORD(WAKE, 0, 0, SECOND, 2, 0);
  RECORD(END, 0);
  trace_end_row();
  trace_close();
  return 0;
}
