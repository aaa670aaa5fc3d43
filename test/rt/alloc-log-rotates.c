// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: when the allocation log reaches the size alloc_log_mb, the file is
// renamed to end in .1, and a new file begins. The new .1 file replaces the
// previous one. The reader names the option, and with a larger size no record
// is missing. Each of the two files exceeds the limit by at most one record.
// The two files can be read separately or together. A reader does not combine a
// log with the .1 file of an older log.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:alloc_log=x.log:alloc_log_mb=1:profile=0} ./app 30000
// RUN: test $(ls x.log* | wc -l) = 2
// RUN: test $(stat -c %%s x.log.1) -ge 1048576
// RUN: test $(stat -c %%s x.log.1) -lt 1050000
// RUN: test $(stat -c %%s x.log) -lt 1050000
// RUN: %mprof log --no-names x.log > both && FileCheck %s < both
// RUN: %run{heap_rate=1:alloc_log=all.log:alloc_log_mb=16:profile=0} ./app 30000
// RUN: %mprof log --no-names all.log > all.txt && not grep missing all.txt && grep '^30,001 allocations' all.txt
// RUN: cp x.log.1 alone && %mprof log --no-names alone > first
// RUN: cp x.log alone && %mprof log --no-names alone > second
// RUN: FileCheck %s --check-prefix=GONE < second
// RUN: n() { sed -n 's/,//g; s/^\([0-9]*\) allocations.*/\1/p' $1; }
// RUN: test $(n both) = $(($(n first) + $(n second)))
// RUN: %run{heap_rate=1:alloc_log=x.log:profile=0} ./app 10
// RUN: %mprof log --no-names x.log | FileCheck %s --check-prefix=NEW
//
// CHECK: {{^}}note: the log begins with part {{[2-9]}}: earlier records are missing, so {{.*}}; a log keeps its last two parts, and the option alloc_log_mb=N makes them N MiB long (default 64)
// CHECK: {{^}}Live: 1 block, 100 bytes
// GONE: {{^}}note: alone.1 is ignored: it is not the part of the log before alone
// NEW: {{^}}11 allocations
// NEW-NOT: note:

#include <stdlib.h>

static void *volatile p;

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < n; i++) {
    p = malloc(50);
    free(p);
  }
  p = malloc(100);
  return 0;
}
