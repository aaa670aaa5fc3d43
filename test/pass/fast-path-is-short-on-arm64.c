// Intent: on arm64, an allocation that is not sampled costs six instructions in
// a program and seven in a library. A constant size is in the register in which
// the call passes it. A free costs two instructions, four if it is a jump, and
// five in a library. The call of the allocator needs no PLT stub.
// LLVM 16 makes the frame before the branch to the cold part: four instructions
// more.
// UNSUPPORTED: clang-16
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -fPIE -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -fPIC -S -o - %s \
// RUN:   | FileCheck %s --check-prefix=LIBRARY
// RUN: for v in armv8-a armv9-a; do \
// RUN:   %clang_mprof --target=aarch64-linux-gnu -march=$v -O3 -fno-pic -S -o - %s \
// RUN:     | FileCheck %s --check-prefix=BRANCH || exit 1; done

typedef unsigned long size_t;
void *malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
void use(void *);

// CHECK-LABEL: f:
// CHECK: mrs [[A:x[0-9]+]], TPIDR_EL0
// CHECK-NEXT: add [[A]], [[A]], :tprel_hi12:__mprof_heap_countdown
// CHECK: ldr [[C:x[0-9]+]], [[[A]], :tprel_lo12_nc:__mprof_heap_countdown]
// CHECK-NEXT: NO_APP
// CHECK-NEXT: subs [[C]], [[C]], x0
// CHECK-NEXT: APP
// CHECK-NEXT: str [[C]], [[[A]], :tprel_lo12_nc:__mprof_heap_countdown]
// CHECK-NEXT: NO_APP
// CHECK-NEXT: b.ls
// CHECK-NEXT: {{^//}}
// CHECK-NEXT: adrp [[F:x[0-9]+]], __mprof_next_malloc
// CHECK-NEXT: ldr [[F]], [[[F]], :lo12:__mprof_next_malloc]
// CHECK-NEXT: APP
// CHECK-NEXT: NO_APP
// CHECK-NEXT: blr [[F]]
// LIBRARY-LABEL: f:
// LIBRARY: adrp [[O:x[0-9]+]], :gottprel:__mprof_heap_countdown
// LIBRARY-NEXT: ldr [[O]], [[[O]], :gottprel_lo12:__mprof_heap_countdown]
// LIBRARY: mrs [[T:x[0-9]+]], TPIDR_EL0
// LIBRARY-NEXT: NO_APP
// LIBRARY-NEXT: ldr [[C:x[0-9]+]], [[[T]], [[O]]]
// LIBRARY-NEXT: subs [[C]], [[C]], x0
// LIBRARY-NEXT: str [[C]], [[[T]], [[O]]]
// LIBRARY-NEXT: b.ls
// LIBRARY-NEXT: {{^//}}
// LIBRARY-NEXT: adrp [[F:x[0-9]+]], mprof.hook.malloc
// LIBRARY-NEXT: ldr [[F]], [[[F]], :lo12:mprof.hook.malloc]
// LIBRARY-NEXT: ldr [[F]], [[[F]]]
// LIBRARY-NEXT: APP
// LIBRARY-NEXT: NO_APP
// LIBRARY-NEXT: blr [[F]]
// The comparison belongs to the subtraction, also with other instruction sets.
// BRANCH-LABEL: f:
// BRANCH: subs x{{[0-9]+}}, x{{[0-9]+}}, x0
// BRANCH-NOT: {{cmp|cset|tst|subs}}
// BRANCH: b.ls
void f(size_t n) { use(malloc(n)); }

// CHECK-LABEL: k:
// CHECK: mov w0, #64
// CHECK-NOT: #64
// CHECK: subs {{x[0-9]+, x[0-9]+}}, x0
// CHECK-NOT: {{cmp|#64}}
// CHECK: b.ls
// CHECK-NOT: #64
// CHECK: .cfi_endproc
void k(void) { use(malloc(64)); }

// CHECK-LABEL: g:
// CHECK: adrp [[M:x[0-9]+]], __mprof_free_mask
// CHECK-NEXT: ldr [[M]], [[[M]], :lo12:__mprof_free_mask]
// CHECK-NEXT: tst x0, [[M]]
// CHECK-NEXT: b.eq
// CHECK-NEXT: {{^//}}
// CHECK-NEXT: adrp [[F:x[0-9]+]], __mprof_next_free
// CHECK-NEXT: ldr [[G:x[0-9]+]], [[[F]], :lo12:__mprof_next_free]
// CHECK-NEXT: br [[G]]
// LIBRARY-LABEL: g:
// LIBRARY: adrp [[M:x[0-9]+]], :got:__mprof_free_mask
// LIBRARY-NEXT: ldr [[M]], [[[M]], :got_lo12:__mprof_free_mask]
// LIBRARY-NEXT: ldr [[M]], [[[M]]]
// LIBRARY-NEXT: tst x0, [[M]]
// LIBRARY-NEXT: b.eq
void g(void *p) { free(p); }

// The second site reads the thread pointer again.
// CHECK-LABEL: two:
// CHECK: mrs {{x[0-9]+}}, TPIDR_EL0
// CHECK: blr
// CHECK: mrs [[B:x[0-9]+]], TPIDR_EL0
// CHECK-NOT: {{mrs|blr}}
// CHECK: ldr {{x[0-9]+}}, [[[B]], :tprel_lo12_nc:__mprof_heap_countdown]
// CHECK: str {{x[0-9]+}}, [[[B]], :tprel_lo12_nc:__mprof_heap_countdown]
// CHECK-NEXT: NO_APP
// CHECK-NEXT: b.ls
// CHECK: .cfi_endproc
// LIBRARY-LABEL: two:
// LIBRARY: mrs {{x[0-9]+}}, TPIDR_EL0
// LIBRARY: blr
// LIBRARY: mrs [[U:x[0-9]+]], TPIDR_EL0
// LIBRARY-NOT: {{mrs|blr}}
// LIBRARY: subs
// LIBRARY-NEXT: str {{x[0-9]+}}, [[[U]], {{x[0-9]+}}]
// LIBRARY-NEXT: b.ls
// LIBRARY: .cfi_endproc
void two(void **out, size_t n) {
  out[0] = malloc(n);
  out[1] = calloc(n, 8);
}

// CHECK-LABEL: release:
// CHECK: adrp [[F:x[0-9]+]], __mprof_free_off_page
// CHECK: tst {{w[0-9]+}}, #0xfff
// CHECK-NEXT: b.eq
// CHECK: blr
// CHECK-NOT: {{adrp|b.eq}}
// CHECK: tst {{w[0-9]+}}, #0xfff
// CHECK-NEXT: b.eq
void release(void **p) {
  free(p[0]);
  free(p[1]);
  use(p);
}
