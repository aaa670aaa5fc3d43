// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof stuck and mprof html show the names of locks that are global
// variables, as profiles do, and not the list of modules by which the names are
// found.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: env MPROF_OPTIONS=log_path=x.%%p:stuck_report=1:profile=0:report=0 ./app
// RUN: grep '  0x.* /.*/app$' x.*.stuck.txt
// RUN: %mprof stuck x.*.stuck.txt > out && FileCheck %s < out
// RUN: not grep -i modules out
// RUN: %mprof html x.*.stuck.txt -o page.html
// RUN: tr '"' '\n' < page.html | FileCheck %s
// CHECK-DAG: has waited {{.*}} for mutex b (0x{{[0-9a-f]+}}), held by thread
// CHECK-DAG: has waited {{.*}} for mutex a (0x{{[0-9a-f]+}}), held by thread
// CHECK-DAG: holds mutex a (0x{{[0-9a-f]+}}), taken
// CHECK-DAG: holds mutex b (0x{{[0-9a-f]+}}), taken

#include "deadlock.h"

int main(void) {
  init_deadlock();
  create_waiter(0, a_then_b);
  create_waiter(1, b_then_a);
  until_reported();
  _exit(0);
}
