// Intent: while nothing is recorded, a lock, an unlock or a blocking call is a
// call of a stub, which jumps through the variable of the function, as a stub of
// the PLT does, in programs, in libraries and without position-independent code.
// Only a call that would be a jump has a test before it, and remains a jump.
// LLVM 16 aligns the stack before the branch to the cold part: two instructions more.
// UNSUPPORTED: clang-16
// RUN: %clang_mprof --target=x86_64-linux-gnu -O2 -fPIE -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=x86_64-linux-gnu -O2 -fPIC -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=x86_64-linux-gnu -O2 -fno-pic -S -o - %s | FileCheck %s
#include <pthread.h>
#include <unistd.h>

void use(void);
// CHECK-LABEL: f:
// CHECK: movq %rdi, %[[M:[a-z0-9]+]]
// CHECK-NEXT: callq __mprof_stub_pthread_mutex_lock
// CHECK-NEXT: callq use
// CHECK-NEXT: movq %[[M]], %rdi
// CHECK-NEXT: callq __mprof_stub_pthread_mutex_unlock
// CHECK: jmp use
void f(pthread_mutex_t *m) {
  pthread_mutex_lock(m);
  use();
  pthread_mutex_unlock(m);
  use();
}

// CHECK-LABEL: g:
// CHECK: callq __mprof_stub_read
// CHECK-NOT: __mprof_
// CHECK: retq
long g(int fd, void *p) { return read(fd, p, 8) + 1; }

// CHECK-LABEL: h:
// CHECK-NOT: push
// CHECK: cmpl $0, __mprof_switch_pthread_mutex_unlock+28(%rip)
// CHECK-NEXT: jne
// CHECK-NEXT: {{^# }}
// CHECK-NEXT: jmpq *__mprof_switch_pthread_mutex_unlock(%rip)
int h(pthread_mutex_t *m) { return pthread_mutex_unlock(m); }

// The test is also there if the call and the return are in different blocks.
// CHECK-LABEL: k:
// CHECK: cmpl $0, __mprof_switch_pthread_mutex_lock+28(%rip)
// CHECK: jmpq *__mprof_switch_pthread_mutex_lock(%rip)
int k(pthread_mutex_t *m) {
  if (m)
    return pthread_mutex_lock(m);
  return 5;
}

// CHECK-LABEL: __mprof_stub_pthread_mutex_lock:
// CHECK-NOT: {{push|call|mov}}
// CHECK: jmpq *__mprof_switch_pthread_mutex_lock(%rip)
