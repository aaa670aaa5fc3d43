// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a thread has more events or texts than fit into one batch of the
// trace, each format has all of them.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: for f in 1.5 1.23; do ./app $f $f.trace || exit 1; done
// RUN: %trace_check 1.23.trace > counts
// RUN: FileCheck %s < counts
// CHECK: 40000 GoSyscallBegin
// CHECK: 1000 UserLog
// RUN: %go119 tool trace -d app 1.5.trace | grep -c GoSysCall | grep -x 40000

#include "traces.h"

#include "trace/trace.h"
#include "trace/trace_records.h"

int main(int argc, char **argv) {
  unsigned char text[MPROF_TRACE_LOG_MAX];
  memset(text, 'x', sizeof(text));
  CHECK_EQ(argc, 3);
  trace_open(argv[1], argv[2]);
  trace_begin_row(0, 1000);
  RECORD(BEGIN, 0, 1, 100, MPROF_TRACE_FROM_UNKNOWN, 0);
  for (int i = 0; i < 40000; i++)
    RECORD(CALL, 100, 0);
  for (int i = 0; i < 1000; i++)
    mprof_trace_write_record(
        trace_writer, &trace_rows[0],
        &(const struct mprof_trace_record){
            MPROF_TRACE_LOG, 1, {0, 0, 0, sizeof(text)}, text});
  RECORD(END, 0);
  trace_end_row();
  trace_close();
  return 0;
}
