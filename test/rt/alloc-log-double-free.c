// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the allocator aborts the process because of a double free, the
// allocation log shows the block that was freed twice. It shows the stacks of
// the allocation and of both frees. Two frees of one address are no double free
// if the address was allocated again between them. After SIGKILL the log can
// still be read.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -fno-inline %s -o app
// RUN: (ulimit -c 0; %run{heap_rate=1:alloc_log=x.log} ./app; test $? = 134)
// RUN: %mprof log x.log | FileCheck %s
// RUN: (ulimit -c 0; %run{heap_rate=1:alloc_log=y.log} ./app KILL; \
// RUN:   test $? = 137)
// RUN: %mprof log y.log | FileCheck %s --check-prefix=KILL
//
// CHECK: {{^}}3 allocations
// CHECK-NOT: note:
// CHECK: {{^}}Freed twice: 1 block{{$}}
// CHECK: {{^}}  0x{{[0-9a-f]+}}, 40 bytes{{$}}
// CHECK-NEXT: {{^}}   allocated by thread [[#TID:]] at {{[0-9]+}}.
// CHECK-NEXT: {{^}}    #0 make
// CHECK-NEXT: {{^}}    #1 main
// CHECK-NEXT: {{^}}   freed by thread [[#TID]] at {{[0-9]+}}.
// CHECK-NEXT: {{^}}    #0 first
// CHECK-NEXT: {{^}}    #1 main
// CHECK-NEXT: {{^}}   freed again by thread [[#TID]] at {{[0-9]+}}.
// CHECK-NEXT: {{^}}    #0 second
// CHECK-NEXT: {{^}}    #1 main
// KILL: {{^}}3 allocations
// KILL: {{^}}Freed twice: 0 blocks{{$}}

#include <signal.h>
#include <stdlib.h>

static void *volatile p;

static void make(void) { p = malloc(40); }
static void first(void) {
  free(p);
  __asm__ volatile("");
}
static void second(void) {
  free(p);
  __asm__ volatile("");
}

int main(int argc, char **argv) {
  (void)argv;
  make();
  first();
  make(); // gets the same address
  second();
  make();
  first();
  if (argc > 1)
    raise(SIGKILL);
  second();
  return 0;
}
