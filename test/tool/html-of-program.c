// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the page of mprof html for a running program has all profiles of the
// program, as that of mprof run --html has: also that of its resident memory
// and that of mapped memory. With --sample it has one. The help says so.
//
// RUN: %mprof help html | tr '\n' ' ' | grep 'a program for all its profiles, if --sample names no others[.]'
// REQUIRES: browser
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkfifo input
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// The path of a socket is short.
// RUN: d=$(mktemp -d /tmp/mprof.XXXXXX) && trap 'rm -r $d' EXIT
// RUN: %run_quiet{heap_rate=1:peak=1:listen=unix:$d/s} ./app < input > ready & \
// RUN:   exec 3> input; for i in $(seq 6000); do \
// RUN:     test -S $d/s && grep -q ready ready && break; sleep 0.01; done; \
// RUN:   %mprof html $d/s -o all.html && %mprof html --sample=inuse_space $d/s -o one.html; \
// RUN:   status=$?; exec 3>&-; wait; test $status = 0
// RUN: %python %S/Inputs/browser.py text all all.html#all | grep Overview: | FileCheck %s
// CHECK: Most memory at the peak{{.*}}Memory in use
// CHECK-SAME: Resident memory{{[0-9.]+}} MiB resident in total, {{.*}} of it used by no other process.
// CHECK-SAME: Mapped memory in use{{[89][0-9.]*}} MiB in use.{{.*}}main html-of-program.c:
// RUN: %python %S/Inputs/browser.py text all one.html#all | not grep -E 'Resident memory|Mapped'
//
// A process without a server is read from outside.
// RUN: ./app < input > begun & pid=$!; exec 3> input; for i in $(seq 6000); do \
// RUN:   grep -q ready begun && break; sleep 0.01; done; \
// RUN:   %mprof html $pid -o outside.html 2> why; status=$?; exec 3>&-; wait; test $status = 0
// RUN: grep -E '^mprof html: only the memory is shown: process [0-9]+: it has no HTTP server' why
// RUN: %python %S/Inputs/browser.py text all outside.html#all | grep Overview: \
// RUN:   | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: Resident memory{{[0-9.]+}} MiB resident in total, {{.*}} of it used by no other process.
// OUTSIDE-SAME: MiBanonymous memory of unknown origin
// OUTSIDE-SAME: the process is read from outside, so nothing has a stack

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 8 << 20 };
static void *volatile kept;

int main(void) {
  kept = memset(malloc(1000), 1, 1000);
  void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return 1;
  memset(p, 1, BYTES);
  puts("ready");
  fflush(stdout);
  return getchar() == 'x';
}
