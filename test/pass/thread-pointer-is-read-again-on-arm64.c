// Intent: each site reads the thread pointer itself. It does not use an address of
// the countdown that was computed before a call. The called function may switch
// stacks, and return in another thread. This also holds for sites that are
// reached on several paths, for sites in a loop, and after optimizations at link
// time.
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -fPIE -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=aarch64-linux-gnu -O3 -fPIC -S -o - %s | FileCheck %s
// RUN: %clang_mprof --target=aarch64-linux-gnu -O2 -flto -fPIE -c -o - %s \
// RUN:   | opt -O3 | llc -O3 -relocation-model=pic -o - | FileCheck %s

typedef unsigned long size_t;
void *malloc(size_t);
void *realloc(void *, size_t);
void yield(void *);

// CHECK-LABEL: straight:
// CHECK: mrs
// CHECK: bl yield
// CHECK: mrs
// CHECK: .cfi_endproc
void straight(size_t n) {
  yield(malloc(n));
  yield(malloc(2 * n));
}

// The call is on one of two paths.
// CHECK-LABEL: branch:
// CHECK-COUNT-3: mrs
// CHECK: .cfi_endproc
void *branch(void **out, size_t n) {
  out[0] = malloc(n);
  if (n > 100)
    yield(out);
  out[1] = malloc(2 * n);
  return realloc(out[1], n);
}

// CHECK-LABEL: loop:
// CHECK: [[TOP:.LBB[0-9_]+]]:
// CHECK-NOT: {{b[.](ne|eq|lo|hi|ls|hs) }}
// CHECK: mrs
// CHECK: bl yield
// CHECK: [[TOP]]
void loop(size_t n) {
  do
    yield(malloc(n));
  while (--n);
}
