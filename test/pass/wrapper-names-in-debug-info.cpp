// Intent: with -g1, the debug info of a wrapper has the full name that is
// registered. Names of other functions do not change. -g changes no name.
// RUN: %clangxx_mprof -g1 -O2 -S -emit-llvm -o - %s | FileCheck %s
// RUN: %clangxx_mprof -g -O2 -S -emit-llvm -o - %s \
// RUN:   | FileCheck %s --check-prefix=FULL
namespace ns {
template <class T> struct pool {
  __attribute__((mprof_wrapper, noinline)) T get(T x) { return x + 1; }
  __attribute__((noinline)) T other(T x) { return x + 2; }
};
} // namespace ns
int f(ns::pool<int> p) { return p.get(1) + p.other(1); }

// CHECK-NOT: DISubprogram(name: "get"
// CHECK: !DISubprogram(name: "ns::pool<int>::get", scope: {{.*}}, line: 8
// CHECK: !DISubprogram(name: "other"
// FULL: !DISubprogram(name: "get", linkageName: "_ZN2ns4poolIiE3getEi"
// FULL-NOT: DISubprogram(name: "ns::
