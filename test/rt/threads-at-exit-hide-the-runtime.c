// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the profile of threads at exit shows the ending thread with the
// frames of the program and of libc. The runtime's own functions, which write
// the profile, are not shown. This holds after a return from main, after exit
// and after quick_exit.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: for how in return exit quick_exit; do \
// RUN:   %run{threads=1:report=0:log_path=$how} ./app $how && \
// RUN:   %mprof_read --symbolize $how.*.threads.pb.gz > $how.txt || exit 1; done
// RUN: cat return.txt exit.txt quick_exit.txt | FileCheck %s --check-prefix=NONE
// RUN: grep 'sample: 1 .* exit <- leave <- main' exit.txt
// RUN: grep 'sample: 1 .* quick_exit <- leave <- main' quick_exit.txt
// NONE-NOT: {{write_once|at_exit|mprof_}}

#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void leave(const char *how) {
  if (strcmp(how, "exit") == 0)
    exit(0);
  if (strcmp(how, "quick_exit") == 0)
    quick_exit(0);
}

int main(int argc, char **argv) {
  leave(argc > 1 ? argv[1] : "");
  return 0;
}
