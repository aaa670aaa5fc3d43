// Intent: an allocation that is not sampled costs a subtraction in thread-local
// memory and a branch. In a shared library, it also costs a load of the
// variable's offset, and a move if the size is constant. A free costs a test and
// a branch. The test reads no memory, unless the free is a jump or in a shared
// library. free(NULL) costs a second test and branch, and calls nothing. The
// call of the allocator then needs no PLT stub: it costs a load and a call
// through a register, or a jump through memory.
// LLVM 16 aligns the stack before the branch to the cold part: two instructions more.
// UNSUPPORTED: clang-16
// RUN: %clang_mprof --target=x86_64-linux-gnu -O2 -fPIE -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=x86_64-linux-gnu -O2 -fPIC -S -o - %s | FileCheck %s --check-prefix=LIBRARY
#include <stdlib.h>

void use(void *);
// CHECK-LABEL: f:
// CHECK: subq %rdi, %fs:__mprof_heap_countdown@TPOFF
// CHECK-NEXT: jbe
// CHECK-NEXT: {{^# }}
// CHECK-NEXT: movq __mprof_next_malloc(%rip), %[[F:[a-z0-9]+]]
// CHECK-NEXT: #APP
// CHECK-NEXT: #NO_APP
// CHECK-NEXT: callq *%[[F]]
// LIBRARY-LABEL: f:
// LIBRARY: movq __mprof_heap_countdown@GOTTPOFF(%rip), %[[R:[a-z0-9]+]]
// LIBRARY-NEXT: subq %rdi, %fs:(%[[R]])
// LIBRARY-NEXT: jbe
// LIBRARY-NEXT: {{^# }}
// LIBRARY-NEXT: movq mprof.hook.malloc(%rip), %[[F:[a-z0-9]+]]
// LIBRARY-NEXT: movq (%[[F]]), %[[F]]
// LIBRARY-NEXT: #APP
// LIBRARY-NEXT: #NO_APP
// LIBRARY-NEXT: callq *%[[F]]
void f(size_t n) { use(malloc(n)); }

// CHECK-LABEL: k:
// CHECK: subq $64, %fs:__mprof_heap_countdown@TPOFF
// CHECK-NEXT: NO_APP
// CHECK-NEXT: jbe
// LIBRARY-LABEL: k:
// LIBRARY: movl $64, %e
// LIBRARY: subq %r{{.*}}, %fs:(%
// LIBRARY-NEXT: jbe
void k(void) { use(malloc(64)); }

// CHECK-LABEL: g:
// CHECK: testq %rdi, __mprof_free_mask(%rip)
// CHECK-NEXT: je [[MASKED:.*]]
// CHECK-NEXT: {{^# }}
// CHECK-NEXT: jmpq *__mprof_next_free(%rip)
// CHECK-NEXT: [[MASKED]]:
// CHECK-NEXT: testq %rdi, %rdi
// CHECK-NEXT: jne
// CHECK-NEXT: {{^# }}
// CHECK-NEXT: retq
// LIBRARY-LABEL: g:
// LIBRARY: movq __mprof_free_mask@GOTPCREL(%rip), %[[R:[a-z0-9]+]]
// LIBRARY-NEXT: testq %rdi, (%[[R]])
void g(void *p) { free(p); }

// CHECK-LABEL: release:
// CHECK: testl $4095, %edi
// CHECK-NEXT: je
// CHECK-NEXT: {{^# }}
// CHECK-NEXT: movq __mprof_free_off_page(%rip), %[[F:[a-z0-9]+]]
// CHECK-NEXT: #APP
// CHECK-NEXT: #NO_APP
// CHECK-NEXT: callq *%[[F]]
// LIBRARY-LABEL: release:
// LIBRARY: movq __mprof_free_mask@GOTPCREL(%rip), %[[M:[a-z0-9]+]]
// LIBRARY-NOT: __mprof_free_off_page
// LIBRARY: .cfi_endproc
void release(void **p) {
  free(p[0]);
  use(p);
}
