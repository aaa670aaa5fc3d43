// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that was merely built with MProf prints what it prints
// without MProf, and still writes its profiles. The line with the file names is
// printed on a terminal, or if MPROF_OPTIONS is set. It comes after the
// program's own output and has at most 200 characters. With quiet=1, only
// errors are printed. If the options switch all output off, nothing is printed.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
//
// Without options: nothing on stderr, even if nothing can be written. (The
// emulator writes files of its own and ends with a message under this limit.)
// RUN: env -u MPROF_OPTIONS ./app 2> err && test ! -s err && ls mprof.app.*.txt
// RUN: MPROF_OPTIONS= ./app 2> err && test ! -s err && rm mprof.app.*
// RUN: %if emulated %{ true %} %else %{ sh -c 'ulimit -f 0; \
// RUN:   env -u MPROF_OPTIONS ./app 2>&1 > /dev/full' | wc -c | grep -x 0 %}
//
// On a terminal the line is printed.
// RUN: env -u MPROF_OPTIONS %python -c \
// RUN:   'import pty; pty.spawn(["./app"])' < /dev/null > tty
// RUN: grep -a 'mprof: wrote mprof.app' tty && rm mprof.app.*
//
// The line comes after the output, of which stdio has buffered a part.
// RUN: %run{heap_rate=1:log_path=p} ./app > both 2>&1
// RUN: FileCheck %s --check-prefix=BOTH < both
// BOTH: {{^}}begin of a line, end of the linemprof: wrote p.[[#]].heap.pb.gz
//
// RUN: %run{heap_rate=1:quiet=1} ./app 2>&1 >/dev/null | wc -c | grep -x 0
// RUN: %run{quiet=1:log_path=/proc/missing/x} ./app 2> err
// RUN: grep '^mprof: cannot write /proc/missing/x.*.txt' err
// RUN: for nothing in profile=0:report=0 log_path=/dev/null; do \
// RUN:   MPROF_OPTIONS=$nothing ./app 2> err && test ! -s err || exit 1; done
//
// RUN: long=$(printf 'directory%.0s' $(seq 20)) && mkdir $long
// RUN: %run{heap_rate=1:heapx=1:block_rate=1:log_path=}$long/base ./app 2> err
// RUN: grep 'mprof: wrote [0-9] files: \.\.\..*directory/base.[0-9]*\.\*' err
// RUN: awk 'length > 200 { exit 1 }' err
//
// The report has the program's first argument and its title, without padding.
// (The emulator keeps the arguments that it was started with.)
// RUN: %run{log_path=title} ./app a-long-first-argument x 2> err
// RUN: %if !emulated %{ grep -x 'Command:   ./app \.\.\.' title.*.txt %}
// RUN: %if !emulated %{ grep -x 'Title:     worker' title.*.txt %}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile sink;

int main(int argc, char **argv) {
  sink = malloc(16 << 20); // a sample at any rate, so there is a profile
  if (argc > 1) {          // as setproctitle does
    char *end = argv[argc - 1] + strlen(argv[argc - 1]);
    size_t size = (size_t)(end - argv[0]);
    memset(argv[0], 0, size);
    strcpy(argv[0], "worker");
  }
  printf("begin of a line");
  printf(", end of the line");
  return 0;
}
