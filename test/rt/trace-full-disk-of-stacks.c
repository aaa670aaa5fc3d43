// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: where the room on the disk, or what a file may have, is enough for
// some of the stacks of a trace only, the file has the newest part with its
// stacks; where there is none at all, there is no file, and the error is told.
//
// REQUIRES: disks
// RUN: rm -rf %t.dir && mkdir -p %t.dir/disk && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o deep
// RUN: env MPROF_OPTIONS=profile=0:log_path=disk-full %on_disk 512k disk \
// RUN:   sh -c './deep; test $? = 28 && cp disk/deep.trace disk.trace'
// RUN: %trace_check -q disk.trace
// RUN: grep -a -o 'the last words' disk.trace
// RUN: not grep -a -o 'the first words' disk.trace
// RUN: grep 'lack their oldest part because the disk was full' disk-full.*.txt
// RUN: sh -c 'ulimit -f 512; MPROF_OPTIONS=profile=0:report=0 ./deep; \
// RUN:   test $? = 27'
// RUN: %trace_check -q disk/deep.trace
// RUN: grep -a -o 'the last words' disk/deep.trace
// RUN: rm disk/deep.trace
// RUN: sh -c 'ulimit -f 0; MPROF_OPTIONS=profile=0:report=0 ./deep; \
// RUN:   test $? = 27'
// RUN: ls -A disk | count 0

#include <mprof/mprof.h>

static int sink;

__attribute__((noinline)) static void left(int path, int depth);

// A stack of its own for each path: which way it goes at each depth.
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

int main(void) {
  if (mprof_trace_start("disk/deep.trace") != 0)
    return 1;
  mprof_trace_log(0, "key", "the first words");
  for (int path = 0; path < 8192; path++)
    right(path, 13);
  mprof_trace_log(0, "key", "the last words");
  return mprof_trace_stop();
}
