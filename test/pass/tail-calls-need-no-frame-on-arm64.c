// Intent: a function that only allocates in tail position needs no frame on the
// stack, because the calls of the runtime are in functions of their own. These
// functions have the name and the lines of the original in their debug
// information, and sign return addresses if the original does.
// LLVM 16 makes the frame of `resize` before its test of the size.
// UNSUPPORTED: clang-16
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -g -fPIE -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -fPIC -S -o - %s \
// RUN:   | FileCheck %s --check-prefix=LIBRARY
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -mbranch-protection=pac-ret -S \
// RUN:   -o - %s | FileCheck %s --check-prefix=SIGNED
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -g1 \
// RUN:   -fdebug-info-for-profiling -c -o %t.o %s
// RUN: llvm-dwarfdump --name=resize %t.o | FileCheck %s --check-prefix=NAMES

typedef unsigned long size_t;
void *realloc(void *, size_t);
void *malloc(size_t);
void free(void *);

// CHECK-LABEL: resize:
// CHECK-NOT: {{x30|sp}}
// CHECK: br x
// CHECK: b resize.cold
// SIGNED-LABEL: resize:
// SIGNED-NOT: {{x30|sp}}
// SIGNED: br x
void *resize(void *ud, void *p, size_t was, size_t size) {
  if (size == 0) {
    free(p);
    return (void *)0;
  }
  return realloc(p, size); // line 33
}

// LIBRARY-LABEL: make:
// LIBRARY-NOT: {{x30|sp}}
// LIBRARY: br x
// LIBRARY-NOT: {{x30|sp}}
// LIBRARY: b make.cold
void *make(size_t n) { return malloc(n); }

// CHECK-LABEL: resize.cold:
// CHECK: stp x29, x30, [sp, #-16]!
// CHECK: .cfi_offset w30, -8
// CHECK: .loc {{[01]}} 33 10
// CHECK: bl __mprof_realloc
// CHECK: ldp x29, x30, [sp], #16
// CHECK: ret
// LIBRARY-LABEL: make.cold:
// LIBRARY: ldr [[E:x[0-9]+]], {{.*}}mprof.hook.malloc+8]
// LIBRARY: blr [[E]]
// SIGNED-LABEL: resize.cold:
// SIGNED: {{hint #25|paciasp}}
// SIGNED: bl __mprof_realloc
// SIGNED: {{hint #29|autiasp|retaa}}

// NAMES-COUNT-2: DW_TAG_subprogram
