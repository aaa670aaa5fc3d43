// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if a program without MProf has an empty heap profile, the reason does
// not speak of code compiled with -fmprof, because allocations of all code are
// counted. The same holds for a program that is linked with the interceptors.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin %s -o app
// RUN: %run{heap_rate=1} LD_PRELOAD=%preload ./app 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EXACT
// RUN: %run{heap_rate=1g} LD_PRELOAD=%preload ./app few 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FEW
// RUN: %run{heap_rate=1:threads=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: FileCheck %s --check-prefix=REPORT < x.*.txt
// RUN: %mprof_clang -fmprof -O1 -fno-builtin %s -o linked
// RUN: %run{heap_rate=1} ./linked 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: the heap profile is empty: the program allocated nothing{{$}}
// FEW: the heap profile is empty: the program allocated nothing, or too little to be sampled{{$}}
// REPORT: Nothing was sampled: the program allocated nothing{{$}}

#include <stdlib.h>

void *volatile kept;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    kept = malloc(1);
  return 0;
}
