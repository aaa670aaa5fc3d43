// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the former names of mprof_cycle_flush and mprof_cycle_post_sweep
// still work and do the same as the present names. The compiler warns about a
// former name and prints the present name. An object file that calls a function
// by its former name can be linked, too.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/include %s -o app 2> warnings
// RUN: FileCheck %s < warnings
// CHECK: 'mprof_flush' is deprecated: use mprof_cycle_flush
// CHECK: 'mprof_post_sweep' is deprecated: use mprof_cycle_post_sweep
// RUN: %run_quiet ./app
// RUN: %mprof_clang -fmprof -O1 -DBY_OLD_OBJECTS %s -o old
// RUN: %run_quiet ./old

#ifdef BY_OLD_OBJECTS
extern void mprof_flush(void), mprof_post_sweep(void);
#else
#include <mprof/mprof.h>
#endif

int main(void) {
  mprof_flush();
  mprof_post_sweep();
  return 0;
}
