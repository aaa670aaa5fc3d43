// Intent: what an allocation costs inline: load of the thread's offset,
// subtraction in memory, branch. A release costs a test and a branch.
// RUN: %clang_mprof -O2 -fPIE -S -o - %s | FileCheck %s
#include <stdlib.h>

void use(void *);
// CHECK-LABEL: f:
// CHECK: movq __mprof_heap_countdown@GOTTPOFF(%rip), %[[R:[a-z0-9]+]]
// CHECK-NEXT: subq %rdi, %fs:(%[[R]])
// CHECK-NEXT: js
// CHECK-NEXT: {{^# }}
// CHECK-NEXT: callq malloc@PLT
void f(size_t n) { use(malloc(n)); }

// CHECK-LABEL: g:
// CHECK: testq %rdi, __mprof_free_mask(%rip)
// CHECK-NEXT: jne free@PLT
void g(void *p) { free(p); }
