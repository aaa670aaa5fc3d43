// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the program was built with MProf, the preloaded library only
// passes calls on. Each block is counted once, and only one set of files is
// written. The same holds for a program that uses the shared runtime. Children
// of the program are profiled, unless follow_fork=0.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -fno-builtin %s -o app
// RUN: %run{heap_rate=1:block_rate=1:log_path=x:report_top=0} \
// RUN:   LD_PRELOAD=%preload ./app 2> err
// RUN: cat x.*.txt | FileCheck %s && FileCheck --check-prefix=ERR %s < err
// CHECK: In use: {{ *}}1,000 bytes in 1 block
// CHECK: Allocated: {{.*}} (3,000 bytes) in 2 blocks
// ERR: wrote
// ERR-NOT: wrote
// RUN: rm x.* && %clang_mprof -O1 -fno-builtin -fPIE -c %s -o shared.o
// RUN: %clang shared.o -o shared -L%rtdir -lmprof_rt -Wl,-rpath,%rtdir
// RUN: %run{heap_rate=1:block_rate=1:log_path=x:report_top=0} \
// RUN:   LD_PRELOAD=%preload ./shared 2> err
// RUN: cat x.*.txt | FileCheck %s && FileCheck --check-prefix=ERR %s < err
//
// The library is in LD_PRELOAD, which the children inherit.
// RUN: %run{profile=0:report=0} LD_PRELOAD=%preload ./app env-has-library
// RUN: %run{follow_fork=0} LD_PRELOAD=%preload ./app env
//
// mprof run does not preload the library into such a program.
// RUN: %mprof run -q -o . ./app env
// RUN: not %mprof run -q -o . ./app env-has-library

#include <stdlib.h>
#include <string.h>

void *volatile kept;

int main(int argc, char **argv) {
  const char *list = getenv("LD_PRELOAD");
  if (argc > 1 && strcmp(argv[1], "env-has-library") == 0)
    return list == NULL || strstr(list, "libmprof_preload") == NULL;
  if (argc > 1)
    return list != NULL && strstr(list, "libmprof_preload") != NULL;
  kept = malloc(1000);
  free(malloc(2000));
  return 0;
}
