// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the disk is full when a trace ends, the file has the newest part
// of the trace that fits. mprof_trace_stop, the report and the message at exit
// say that the oldest part is missing. If the disk becomes full earlier, the
// file has the part of the trace up to then. Both files are valid traces and
// take no more disk space than their size needs.
//
// REQUIRES: disks
// RUN: rm -rf %t.dir && mkdir -p %t.dir/disk && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o fill
// RUN: %run{trace_max_mb=8:log_path=end} %on_disk 4m disk \
// RUN:   sh -c './fill 100000; test $? = 28 && cp disk/fill.trace end.trace'
// RUN: %trace_check -q end.trace
// RUN: test $(stat -c %%s end.trace) -gt 2500000
// RUN: grep 'without [a-z]* oldest part because the disk was full' end.*.txt
// RUN: grep -a -o 'the last words' end.trace
// RUN: not grep -a -o 'the first words' end.trace
// RUN: %run{trace_max_mb=8:log_path=all} %on_disk 1m disk \
// RUN:   sh -c './fill 20000 && cp disk/fill.trace all.trace'
// RUN: %trace_check -q all.trace
// RUN: test $(stat -c %%s all.trace) -gt 800000
// RUN: grep -a -o 'the first words' all.trace
// RUN: %run{trace=1:trace_max_mb=8:profile=0:log_path=disk/exit} \
// RUN:   %on_disk 1m disk sh -c './fill 50000 && cp disk/exit.*.trace exit.trace' \
// RUN:   2> message
// RUN: %trace_check -q exit.trace
// RUN: grep 'wrote disk/exit.[0-9]*.trace ([0-9,]* events; the oldest part of the trace is missing: no space left on device)' message
// RUN: %run{trace_max_mb=1:log_path=part} %on_disk 8m disk \
// RUN:   sh -c './fill 400000 && cp disk/fill.trace part.trace && \
// RUN:     stat -c %%b disk/fill.trace > blocks'
// RUN: %trace_check -q part.trace
// RUN: test $(stat -c %%s part.trace) -gt 2000000
// RUN: test $(stat -c %%s part.trace) -gt $(($(cat blocks) * 512 - 8192))
// RUN: grep 'traces\? that ended early because the memory that trace_max_mb allows was full and [a-z]* data could not be written out' part.*.txt
// RUN: grep -a -o 'the first words' part.trace
// RUN: not grep -a -o 'the last words' part.trace

#include <errno.h>
#include <mprof/mprof.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  const int n = argc == 2 ? atoi(argv[1]) : 0;
  const int error = mprof_trace_start("disk/fill.trace");
  if (error != 0 && error != EBUSY) // EBUSY: trace=1 has started it
    return 1;
  mprof_trace_log(0, "key", "the first words");
  for (int i = 0; i < n; i++)
    mprof_trace_log(0, "key", "some text that takes memory and room");
  mprof_trace_log(0, "key", "the last words");
  return error == 0 ? mprof_trace_stop() : 0;
}
