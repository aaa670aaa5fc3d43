// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof html compares a running program with another one, and says why
// it does not compare a program with itself.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkfifo input
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: for s in old new; do %run_quiet{heap_rate=1:listen=unix:$PWD/$s} ./app < input > $s.ready & done; \
// RUN:   exec 3> input; for i in $(seq 6000); do \
// RUN:     test -S old && test -S new && grep -q ready old.ready && grep -q ready new.ready && break; sleep 0.01; done; \
// RUN:   %mprof html $PWD/new --base $PWD/old -o page.html && \
// RUN:   not %mprof html $PWD/new --base=$PWD/new -o same.html 2> why && \
// RUN:   not %mprof html $PWD/new --base=unix:$PWD/new -o same.html 2>> why; \
// RUN:   status=$?; exec 3>&-; wait; test $status = 0
// RUN: grep -o '"kind":"heap","name":"[^"]*","role":"[a-z]*"' page.html | sed 's|"[^"]*/|"|' | FileCheck %s
// CHECK: "kind":"heap","name":"new.heap","role":"shown"
// CHECK: "kind":"heap","name":"old.heap","role":"base"
// RUN: FileCheck %s --check-prefix=SAME < why
// SAME: mprof html: --base={{.*}}/new is the program that is shown, so nothing would have changed; mprof ctl {{.*}}/new dump heap writes a file to compare with later
// SAME: mprof html: --base=unix:{{.*}}/new is the program that is shown
// RUN: not ls same.html
//
// A program without MProf:
// RUN: sleep 600 & not %mprof html $! --base=$! -o same.html 2> why; kill $!
// RUN: grep 'is the program that is shown' why

#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

int main(void) {
  kept = malloc(1000);
  puts("ready");
  fflush(stdout);
  return getchar() == 'x';
}
