// Intent: while nothing is recorded, a lock, an unlock or a blocking call on
// arm64 is a call of a stub, which jumps through the variable of the function, as
// a stub of the PLT does. Only a call that would be a jump has a test before it,
// and remains a jump.
// LLVM 16 makes the frame of `h` before the test.
// UNSUPPORTED: clang-16
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -fPIE -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -fPIC -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -fno-pic -S -o - %s | FileCheck %s

typedef union pthread_mutex pthread_mutex_t;
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
void use(void);

// CHECK-LABEL: f:
// CHECK-NOT: {{[[:space:]](cb|b[.]|t(st|b))}}
// CHECK: bl __mprof_stub_pthread_mutex_lock
// CHECK-NEXT: bl use
// CHECK-NOT: {{cb|b[.]|t(st|b)}}
// CHECK: bl __mprof_stub_pthread_mutex_unlock
// CHECK: b use
void f(pthread_mutex_t *m) {
  pthread_mutex_lock(m);
  use();
  pthread_mutex_unlock(m);
  use();
}

// CHECK-LABEL: h:
// CHECK-NOT: sp
// CHECK: adrp [[S:x[0-9]+]], __mprof_switch_pthread_mutex_unlock+28
// CHECK-NEXT: ldr [[ON:w[0-9]+]], [[[S]], :lo12:__mprof_switch_pthread_mutex_unlock+28]
// CHECK-NEXT: cbnz [[ON]]
// CHECK-NEXT: {{^//}}
// CHECK-NEXT: adrp [[T:x[0-9]+]], __mprof_switch_pthread_mutex_unlock
// CHECK-NEXT: ldr [[U:x[0-9]+]], [[[T]], :lo12:__mprof_switch_pthread_mutex_unlock]
// CHECK-NEXT: br [[U]]
int h(pthread_mutex_t *m) { return pthread_mutex_unlock(m); }

// CHECK-LABEL: __mprof_stub_pthread_mutex_lock:
// CHECK-NOT: {{sp|bl}}
// CHECK: adrp x16, __mprof_switch_pthread_mutex_lock
// CHECK-NEXT: ldr x17, [x16, :lo12:__mprof_switch_pthread_mutex_lock]
// CHECK-NEXT: br x17
