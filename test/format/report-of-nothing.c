// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a report without samples says why there are none. The reason may be
// the option heap=0, the rate, or a program that allocated nothing or too
// little.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: %run{heap=0} ./app 524288 | FileCheck %s --check-prefix=HEAP
// RUN: ./app 0 | FileCheck %s --check-prefix=RATE
// RUN: ./app 1 | FileCheck %s --check-prefix=CODE
// RUN: ./app 1024 | FileCheck %s --check-prefix=FEW
// HEAP: Nothing was sampled: heap=0
// RATE: Rate: 0: no block is sampled
// RATE: Nothing was sampled: heap_rate=0
// CODE: Nothing was sampled: no code compiled with -fmprof allocated memory
// FEW: Rate: one sample every 1,024 bytes on average; the figures are estimates
// FEW: Nothing was sampled: code compiled with -fmprof allocated nothing, or too little to be sampled
// FEW: SUMMARY: MProf: 0 bytes in 0 blocks in use, 0 bytes in 0 blocks allocated, 0 stacks, 0 samples at rate 1024

#include "core.h"
#include "snap.h"

#include "process/process.h"

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  CHECK(mprof_process_ready());
  snap.rate = strtoul(argv[1], NULL, 10);
  CHECK_EQ(snap_report("report.txt"), 0);
  return system("cat report.txt");
}
