// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with log_path=stderr the report goes to stderr, and no file is
// written for the report or for a profile in the report. Traces and the stacks
// of all threads are not in the report. They are written to files with default
// names, and one line on stderr names the files. A trace that the program has
// started is written to the file that the program has named.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: export MPROF_OPTIONS=log_path=stderr:heap_rate=1:heapx=1:stuck=1
// RUN: ./app 2> none && ls > files && FileCheck %s --check-prefix=NONE < none
// NONE: SUMMARY: MProf: [[#]] bytes in
// NONE-NOT: mprof:
// RUN: not grep mprof files
//
// RUN: MPROF_OPTIONS+=:threads=1 ./app 2> threads
// RUN: FileCheck %s --check-prefixes=STDERR,THREADS < threads
// RUN: MPROF_OPTIONS+=:trace=1 ./app 2> trace
// RUN: FileCheck %s --check-prefixes=STDERR,TRACE < trace
// RUN: ./app own.trace 2> own
// RUN: FileCheck %s --check-prefixes=STDERR,OWN < own
// RUN: MPROF_OPTIONS+=:alloc_log=%%e.log ./app 2> log
// RUN: FileCheck %s --check-prefixes=STDERR,LOG < log
// STDERR: SUMMARY: MProf: [[#]] bytes in
// STDERR-NOT: wrote
// THREADS: {{^}}mprof: wrote mprof.app.[[#]].threads.pb.gz (1 thread, 1 stack){{$}}
// TRACE:   {{^}}mprof: wrote mprof.app.[[#]].trace ([[#]] events){{$}}
// OWN:     {{^}}mprof: wrote {{.*/}}own.trace ([[#]] events){{$}}
// LOG:     {{^}}mprof: wrote {{.*}}app.{{.*}}log ([[#]] record{{s?}}){{$}}
// STDERR-NOT: mprof:
// RUN: ls mprof.* | wc -l | grep -x 2
// RUN: gzip -t mprof.app.*.threads.pb.gz
// RUN: %trace_check -q mprof.app.*.trace own.trace
//
// Without a report, a message says when no file is written at all.
// RUN: MPROF_OPTIONS+=:report=0 ./app 2> nothing
// RUN: grep -x 'mprof: wrote nothing: with log_path=stderr, only the report shows the profiles, and report=0 turns the report off' nothing
// RUN: MPROF_OPTIONS+=:report=0:threads=1 ./app 2> one && not grep nothing one
// RUN: grep -x 'mprof: wrote mprof.app.[0-9]*.threads.pb.gz (.*)' one

#include <mprof/mprof.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc > 1 && mprof_trace_start(argv[1]) != 0)
    return 1;
  static void *volatile block;
  block = malloc(10);
  free(block);
  return 0;
}
