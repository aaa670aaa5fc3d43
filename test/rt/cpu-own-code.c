// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in the CPU profile and the wall profile, MProf's own functions are
// one function, mprof_itself, below the function that has called them. With
// own=1, they are shown as they are.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o built && %clang -O1 -g %s -o plain
// RUN: %run{heap_rate=1:cpu_rate=500:wall_rate=100:log_path=built:report=0} ./built
// RUN: %mprof run --cpu --wall -O heap_rate=1:cpu_rate=500:wall_rate=100 -o p ./plain
// RUN: for f in built.*.cpu.pb.gz built.*.wall.pb.gz p/*.cpu.pb.gz p/*.wall.pb.gz; do \
// RUN:   %mprof traces --std $f > traces && FileCheck %s < traces || exit 1; done
// CHECK-NOT: {{mprof_[^i]|event[.]c}}
// CHECK: {{^ +}}mprof_itself{{$}}
// CHECK-NEXT: {{^ +}}churn  cpu-own-code.c:
// CHECK-NOT: {{mprof_[^i]|event[.]c}}
//
// RUN: %run{heap_rate=1:cpu_rate=500:wall_rate=100:own=1:log_path=own:report=0} ./built
// RUN: for f in own.*.cpu.pb.gz own.*.wall.pb.gz; do \
// RUN:   %mprof traces --std $f > traces && FileCheck %s --check-prefix=OWN < traces || exit 1; done
// OWN-NOT: mprof_itself
// OWN: mprof_event_

#include "../Inputs/cpu_work.h"
#include <stdlib.h>

void *volatile kept;

__attribute__((noinline)) static void churn(void) {
  for (int i = 0; i < 1000; i++) {
    kept = malloc(32);
    free(kept);
  }
}

int main(void) { burn_by(1000, churn); }
