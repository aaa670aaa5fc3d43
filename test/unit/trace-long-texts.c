// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: names in a trace are cut if they are longer than readers accept. C++
// names can be that long.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app 1.23 long.trace
// RUN: %trace_check -q long.trace

#include "traces.h"

#include "trace/trace_records.h"
#include "trace/write_trace.h"

int main(int argc, char **argv) {
  static char name[2000000];
  memset(name, 'n', sizeof(name) - 1);
  CHECK_EQ(argc, 3);
  trace_open(argv[1], argv[2]);
  trace_begin_row(0, 1000);
  RECORD(BEGIN, 0, 1, 100, MPROF_TRACE_FROM_UNKNOWN, 0);
  CHECK(mprof_trace_string_number(trace_writer, name) != 0);
  CHECK(mprof_trace_string_number(trace_writer, "short") != 0);
  trace_end_row();
  trace_close();
  return 0;
}
