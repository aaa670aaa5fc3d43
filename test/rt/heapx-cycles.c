// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a heapx profile that a program requests shows the state at the last
// call of mprof_next_cycle, as the heap profile does. This holds for both
// formats.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run{heap_rate=1:heapx=1:report=0:log_path=p} ./app
// RUN: mv p.*.heapx.pb.gz 37.exit
// RUN: for k in 10 10.later 30 37.exit; do \
// RUN:   echo "101 temporary_objects=${k%%.*} moved=0" \
// RUN:     | %python %src/test/Inputs/compare_heapx.py $k || exit 1; done
// RUN: grep -x "heapx profile: total 30" 30.txt
// RUN: grep -q "^20 @ 0x" 30.txt && grep -q "^10 @ 0x" 30.txt

#include <mprof/mprof.h>
#include <stdlib.h>

static void *volatile a;

static void make(int n) {
  for (int i = 0; i < n; i++) {
    a = malloc(101);
    free(a);
  }
}

int main(void) {
  make(10);
  mprof_next_cycle();
  int error = mprof_write_profile("heapx", "10", 0);
  make(20);
  error |= mprof_write_profile("heapx", "10.later", 0);
  mprof_next_cycle();
  error |= mprof_write_profile("heapx", "30", 0);
  error |= mprof_write_profile("heapx", "30.txt", 1);
  make(7);
  return error;
}
