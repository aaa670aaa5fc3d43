// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a stack goes through code that was made at run time if the code keeps
// frame pointers, or returns at once after its call, and then goes on in code
// without frame pointers. Other such code ends the stack. Its frame is shown as
// [JIT], even if the code is gone when the profile is written.
//
// REQUIRES: x86_64
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -g1 -fomit-frame-pointer -fno-builtin -I%S/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: %mprof traces --focus=nested x.*.heap.pb.gz | FileCheck --check-prefix=WITH %s
// WITH: allocate jit.h
// WITH-NEXT: {{^ *\[JIT\]\+0x}}
// WITH-NEXT: outer jit.h
// WITH-NEXT: through_trampoline jit-stacks.c
// WITH-NEXT: {{^ *\[JIT\]\+0x}}
// WITH-NEXT: nested jit-stacks.c
// WITH-NEXT: {{^ *\[JIT\]\+0x}}
// WITH-NEXT: main jit-stacks.c
// RUN: %mprof traces --focus=truncated x.*.heap.pb.gz | FileCheck --check-prefix=WITHOUT %s
// WITHOUT: allocate jit.h
// WITHOUT-NEXT: {{^ *\[JIT\]\+0x}}
// WITHOUT-NEXT: [truncated]
//
// RUN: %mprof top x.*.heap.pb.gz | FileCheck --check-prefix=TOP %s
// TOP: [JIT]
// TOP: [JIT] is code that was made at run time: {{.*}}--perf-basic-prof

#include "jit.h"

static made *inner;

__attribute__((noinline)) static void through_trampoline(void) {
  outer(inner);
  __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void nested(void) {
  static made *f;
  if (!f)
    f = make(trampoline);
  f(through_trampoline);
  __asm__ volatile("" ::: "memory");
}

int main(void) {
  inner = make(with_frame_pointer);
  make(with_frame_pointer)(nested);
  outer(make(without_frame_pointer));
  unsigned char *page = (unsigned char *)((size_t)code & -(size_t)4096);
  return munmap(page, 4096);
}
