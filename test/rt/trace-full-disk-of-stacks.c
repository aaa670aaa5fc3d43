// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the free disk space, or the limit of file sizes, suffices for only a
// part of a trace. If the trace is written only at its end, the file has the
// newest part. If parts of the trace were written before, the trace ends early.
// The file is a valid trace. If no byte can be written, there is no file, and
// mprof_trace_stop returns the error.
//
// REQUIRES: disks
// RUN: rm -rf %t.dir && mkdir -p %t.dir/disk && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o deep
// RUN: %run{profile=0:log_path=disk-full} %on_disk 800k disk \
// RUN:   sh -c './deep 13 1; test $? = 28 && cp disk/deep.trace disk.trace'
// RUN: %trace_check -q disk.trace
// RUN: grep -a -o 'the last words' disk.trace
// RUN: not grep -a -o 'the first words' disk.trace
// RUN: grep 'without [a-z]* oldest part because the disk was full' disk-full.*.txt
// RUN: sh -c 'ulimit -f 1600; %run_quiet ./deep 13 1; test $? = 27'
// RUN: %trace_check -q disk/deep.trace
// RUN: grep -a -o 'the last words' disk/deep.trace
// RUN: rm disk/deep.trace
// RUN: sh -c 'ulimit -f 0; %run_quiet ./deep 13 1; test $? = 27'
// RUN: ls -A disk | count 0
// RUN: %run{profile=0:trace_max_mb=1:log_path=part} %on_disk 24m disk \
// RUN:   sh -c './deep 14 30 && cp disk/deep.trace part.trace'
// RUN: %trace_check -q part.trace
// RUN: grep -a -o 'the first words' part.trace
// RUN: not grep -a -o 'the last words' part.trace
// RUN: grep 'traces\? that ended early' part.*.txt
// RUN: sh -c 'ulimit -f 20000; %run{profile=0:trace_max_mb=1:log_path=limit} \
// RUN:   ./deep 12 100'
// RUN: %trace_check -q disk/deep.trace
// RUN: test $(stat -c %%s disk/deep.trace) -gt 3000000
// RUN: grep -a -o 'the first words' disk/deep.trace
// RUN: not grep -a -o 'the last words' disk/deep.trace
// RUN: grep 'traces\? that ended early' limit.*.txt

#include <mprof/mprof.h>
#include <stdlib.h>

static int sink;

__attribute__((noinline)) static void left(int path, int depth);

// Each path has a different stack: its bits say left or right at each depth.
__attribute__((noinline)) static void right(int path, int depth) {
  if (depth == 0)
    mprof_trace_log(0, "key", "text");
  else if (path & 1)
    left(path >> 1, depth - 1);
  else
    right(path >> 1, depth - 1);
  sink++;
}

static void left(int path, int depth) {
  if (depth == 0)
    mprof_trace_log(0, "key", "another text");
  else if (path & 1)
    left(path >> 1, depth - 1);
  else
    right(path >> 1, depth - 1);
  sink++;
}

int main(int argc, char **argv) {
  const int depth = argc == 3 ? atoi(argv[1]) : 0;
  const int rounds = argc == 3 ? atoi(argv[2]) : 0;
  if (mprof_trace_start("disk/deep.trace") != 0)
    return 1;
  mprof_trace_log(0, "key", "the first words");
  for (int i = 0; i < rounds; i++)
    for (int path = 0; path < 1 << depth; path++)
      right(path, depth);
  mprof_trace_log(0, "key", "the last words");
  return mprof_trace_stop();
}
