// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report shows the standard errors of sampled sizes: of the totals,
// and of each stack. A counted size has none. With p = 1 - exp(-size / rate),
// the variance of n samples is n * size^2 * (1 - p) / p^2.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app 524288 | FileCheck %s --check-prefix=SAMPLED
// RUN: ./app 1 | FileCheck %s --check-prefix=COUNTED \
// RUN:   --implicit-check-not="standard error"
// SAMPLED: In use: {{.*}} blocks, standard error 1.79 MiB{{$}}
// SAMPLED: Allocated: {{.*}} blocks, standard error 5.09 MiB{{$}}
// SAMPLED: most bytes in use
// SAMPLED: 10 samples, standard error 1.58 MiB{{$}}
// SAMPLED: 3 samples, standard error 850.9{{[0-9]}} KiB{{$}}
// SAMPLED: most bytes allocated
// SAMPLED: 100 samples, standard error 5.00 MiB{{$}}
// SAMPLED: 4 samples, standard error 982.5{{[0-9]}} KiB{{$}}
// COUNTED: In use: {{.*}} in 13 blocks
// COUNTED: Allocated: {{.*}} in 104 blocks

#include "core.h"
#include "snap.h"

#include "process/process.h"

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  CHECK(mprof_process_ready());
  snap.rate = strtoul(argv[1], NULL, 10);
  const mprof_pc large = snap_pc((void *)main, 1);
  const mprof_pc small = snap_pc((void *)main, 2);
  snap_add(524288, 4, 1, 1, &large);
  snap_add(1024, 100, 90, 1, &small);
  CHECK_EQ(snap_report("report.txt"), 0);
  return system("cat report.txt");
}
