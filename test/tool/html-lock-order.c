// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the overview of mprof html warns of locks that are taken in different
// orders, and names the locks and the functions that take them.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run{lock_order=1:log_path=p:report=0} ./app
// RUN: %build/bin/mprof html p.*.lockorder.pb.gz -o page.html
// RUN: %python %S/Inputs/browser.py text all page.html#all | FileCheck %s
// CHECK: Overview: Locks taken in different orders1 cycle of locks can become a deadlock.
// CHECK-SAME: {{from, to|to, from}}
// CHECK-SAME: {{deposit takes to second|withdraw takes from second}}

#include "../Inputs/lock_orders.h"

int main(void) {
  deposit();
  withdraw();
}
