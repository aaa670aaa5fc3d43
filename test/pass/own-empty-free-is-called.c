// Intent: calls of the program's own free are rewritten even if this free does
// nothing. The optimizer would remove such calls or their arguments. Code that
// prevents this is added to the function, and removed after optimization.
// RUN: for o in -O1 -O2 -Oz -O3; do \
// RUN:   %clang_mprof $o -S -emit-llvm -o - %s | FileCheck %s || exit 1; done
// RUN: %clang_mprof -O2 -S -emit-llvm -fsized-deallocation -x c++ -o - %s \
// RUN:   | FileCheck %s --check-prefix=CXX

#ifdef __cplusplus
// CXX-LABEL: define {{.*}}@_Z3useP3box(
// CXX: call void @__mprof__ZdlPvm(ptr {{.*}}%
// CXX-LABEL: define {{.*}}@_ZdlPvm(
// CXX-NEXT: ret void
struct box {
  long n;
};
void use(box *b) { delete b; }
void operator delete(void *p, decltype(sizeof(0))) noexcept { (void)p; }

#else
// CHECK-LABEL: define {{.*}}@free(
// CHECK-NEXT: ret void
void free(void *p) { (void)p; }

// CHECK-LABEL: define {{.*}}@use(
// CHECK: call {{.*}}@__mprof_free(ptr {{.*}}%
void use(void *p) { free(p); }
#endif
