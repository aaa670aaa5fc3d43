// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: without a usable mprof, the report's frames have the module
// and the offset. One message says what is missing. No other program is run
// instead.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE %s %rtlib \
// RUN:   -o app
// RUN: %run{external_symbolizer_path=/bin/true} ./app 2> err
// RUN: FileCheck %s < report.txt
// RUN: FileCheck %s --check-prefix=OTHER < err
// RUN: printf '#!/bin/sh\necho ran > ran' > mprof
// RUN: %run{external_symbolizer_path=$PWD/mprof} ./app 2> err
// RUN: FileCheck %s < report.txt
// RUN: FileCheck %s --check-prefix=OTHER < err
// RUN: test ! -e ran
// RUN: chmod +x mprof
// RUN: %run{external_symbolizer_path=$PWD/mprof} ./app 2> err
// RUN: FileCheck %s < report.txt
// RUN: test -e ran
// RUN: ln -s %build/bin/mprof mprof-mine
// RUN: %run{symbolizer_cache=0:external_symbolizer_path=$PWD/mprof-mine} \
// RUN:   PATH=/nowhere ./app 2> err
// RUN: FileCheck %s --check-prefix=NAMED < report.txt
// RUN: %run{symbolize=0} ./app 2> err
// RUN: FileCheck %s < report.txt
//
// CHECK: #0 0x{{[0-9a-f]+}} ({{.*}}/app+0x{{[0-9a-f]+}})
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} ({{.*}}/app+0x{{[0-9a-f]+}})
// OTHER: mprof: external_symbolizer_path '{{.*}}' is not an executable file whose name begins with mprof; frames are shown without names; mprof symbolize adds them to a profile
// OTHER-NOT: mprof: external_symbolizer_path
// NAMED: #0 0x{{[0-9a-f]+}} in leaf

#include "core.h"
#include "snap.h"

#include "process/process.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }

int main(void) {
  CHECK(mprof_init_ready());
  mprof_pc stack[] = {snap_pc(leaf, 1), snap_pc(leaf, 1)};
  snap.rate = 1;
  snap_add(1000, 1, 0, 2, stack);
  CHECK_EQ(snap_report("report.txt"), 0);
  CHECK_EQ(snap_report("report.txt"), 0);
  return 0;
}
