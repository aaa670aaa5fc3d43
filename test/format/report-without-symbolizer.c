// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: without a usable mprof, the report's frames have the module
// and the offset. One message says what is missing. If the option names another
// program, one message says so, and mprof is searched for in the usual places.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -fno-sanitize=all -D_GNU_SOURCE "-DMPROF_SYMBOLIZER_PLACES=\"\"" %s \
// RUN:   %rt/symbolize/symbolizers.c %rtlib -Wl,-z,muldefs -o app
// RUN: app() { MPROF_OPTIONS=symbolizer_cache=0:$1 PATH=$2 ./app 2> err; }
// RUN: app '' /nowhere && FileCheck %s < report.txt
// RUN: grep -c 'mprof: found no mprof' err | grep -x 1
//
// RUN: app external_symbolizer_path=llvm-symbolizer /nowhere
// RUN: FileCheck %s < report.txt && FileCheck %s --check-prefix=OTHER < err
// RUN: app external_symbolizer_path=llvm-symbolizer %build/bin
// RUN: FileCheck %s --check-prefix=NAMED < report.txt
// RUN: FileCheck %s --check-prefix=FOUND < err
//
// RUN: printf '#!/bin/sh\necho ran > ran' > mprof
// RUN: app external_symbolizer_path=$PWD/mprof %build/bin
// RUN: FileCheck %s --check-prefix=NAMED < report.txt
// RUN: FileCheck %s --check-prefix=FOUND < err && test ! -e ran
// RUN: chmod +x mprof
// RUN: app external_symbolizer_path=$PWD/mprof %build/bin
// RUN: FileCheck %s < report.txt && test -e ran
//
// RUN: ln -s %build/bin/mprof mprof-mine
// RUN: app external_symbolizer_path=$PWD/mprof-mine /nowhere
// RUN: FileCheck %s --check-prefix=NAMED < report.txt && test ! -s err
// RUN: app symbolize=0 %build/bin
// RUN: FileCheck %s < report.txt && test ! -s err
//
// CHECK: #0 0x{{[0-9a-f]+}} ({{.*}}/app+0x{{[0-9a-f]+}})
// CHECK-NEXT: #1 0x{{[0-9a-f]+}} ({{.*}}/app+0x{{[0-9a-f]+}})
// OTHER: mprof: external_symbolizer_path 'llvm-symbolizer' is not an executable file whose name begins with mprof; mprof is searched for in the usual places
// OTHER-NEXT: mprof: found no mprof: {{.*}}; frames are shown without names; mprof symbolize adds them to a profile
// OTHER-NOT: mprof:
// FOUND: mprof: external_symbolizer_path '{{.*}}' is not an executable file whose name begins with mprof; mprof is searched for in the usual places
// FOUND-NOT: mprof:
// NAMED: #0 0x{{[0-9a-f]+}} in leaf

#include "core.h"
#include "snap.h"

#include "process/process.h"

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }

int main(void) {
  CHECK(mprof_process_ready());
  mprof_pc stack[] = {snap_pc(leaf, 1), snap_pc(leaf, 1)};
  snap.rate = 1;
  snap_add(1000, 1, 0, 2, stack);
  CHECK_EQ(snap_report("report.txt"), 0);
  CHECK_EQ(snap_report("report.txt"), 0);
  return 0;
}
