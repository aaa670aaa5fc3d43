// Intent: the call of the runtime is in a scope with the type of the block, and
// all other code of the allocation is where it is in the source. A call that
// the optimizer has made of two calls has no type. Without debug information
// and by the option, there are no types. The code is the same in all cases.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx_mprof -O2 -g1 -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clangxx_mprof -O2 -g1 -Xclang -mllvm -Xclang -mprof-types=false -S -emit-llvm %s -o - | FileCheck %s --check-prefix=NONE
// RUN: %clangxx_mprof -O2 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=NONE
// RUN: %clangxx_mprof -O2 -g1 -c %s -o with.o && %clangxx_mprof -O2 -c %s -o without.o
// RUN: llvm-objcopy --strip-debug --only-section=.text --remove-section=.rela.text with.o a
// RUN: llvm-objcopy --strip-debug --only-section=.text --remove-section=.rela.text without.o b
// RUN: llvm-objdump -d --no-show-raw-insn a | tail -n +3 > a.txt
// RUN: llvm-objdump -d --no-show-raw-insn b | tail -n +3 > b.txt
// RUN: test -s a.txt && cmp a.txt b.txt

extern "C" void *malloc(unsigned long);

struct Order {
  long amounts[4];
};
template <class T> struct Box {
  __attribute__((noinline)) void *fill() { return new T; }
};

// CHECK-LABEL: define {{.*}}@_Z4makev
// CHECK: call {{.*}}ptr %{{.*}}(i64 {{.*}}){{.*}} !dbg ![[PLAIN:[0-9]+]]
// CHECK: call {{.*}}@__mprof__Znwm(i64 {{.*}}){{.*}} !dbg ![[NEW:[0-9]+]]
Order *make() { return new Order; }

// CHECK-LABEL: define {{.*}}@_Z5castsm
// CHECK: asm {{.*}}__mprof_malloc{{.*}} !dbg ![[CAST:[0-9]+]]
Order *casts(unsigned long n) { return (Order *)malloc(n); }

// CHECK-LABEL: define {{.*}}@_Z8measuredm
// CHECK: asm {{.*}}__mprof_malloc{{.*}} !dbg ![[MEASURED:[0-9]+]]
void *measured(unsigned long n) { return malloc(n * sizeof(Order)); }

// CHECK-LABEL: define {{.*}}@_Z9disagreesv
// CHECK: asm {{.*}}__mprof_malloc{{.*}} !dbg ![[DISAGREES:[0-9]+]]
int *disagrees() { return (int *)malloc(sizeof(long)); }

// CHECK-LABEL: define {{.*}}@_Z6mergedb
// CHECK: call {{.*}}@__mprof__Znwm(i64 {{.*}}){{.*}} !dbg ![[MERGED:[0-9]+]]
// CHECK-NOT: @__mprof__Znwm
// CHECK-LABEL: define {{.*}}@_Z5macroPPv
void *merged(bool b) { return b ? (void *)new long : (void *)new double; }

// CHECK-DAG: call {{.*}}@__mprof__Znwm(i64 {{.*}}){{.*}} !dbg ![[MACRO:[0-9]+]]
// CHECK-DAG: call {{.*}}@__mprof_malloc(i64 {{.*}}){{.*}} !dbg ![[MACRO]]
// CHECK-LABEL: define {{.*}}@_Z5boxesP3BoxI5OrderEPS_IsE
#define TWO(A, B)                                                              \
  A = new Order;                                                               \
  B = malloc(77)
void macro(void **to) { TWO(to[0], to[1]); }

void *boxes(Box<Order> *a, Box<short> *b) {
  return a->fill() == b->fill() ? a : nullptr;
}
// CHECK: call {{.*}}@__mprof__Znwm(i64 {{.*}}){{.*}} !dbg ![[BOX_ORDER:[0-9]+]]
// CHECK: call {{.*}}@__mprof__Znwm(i64 {{.*}}){{.*}} !dbg ![[BOX_SHORT:[0-9]+]]

// CHECK-DAG: ![[PLAIN]] = !DILocation(line: 28, column: 24, scope: ![[#]])
// CHECK-DAG: ![[NEW]] = !DILocation(line: 28, column: 24, scope: ![[ORDER:[0-9]+]], inlinedAt: ![[PLAIN]])
// CHECK-DAG: ![[ORDER]] = distinct !DISubprogram(name: "_ZTS5Order"
// CHECK-DAG: ![[CAST]] = !DILocation({{.*}}scope: ![[ORDER]], inlinedAt:
// CHECK-DAG: ![[MEASURED]] = !DILocation({{.*}}scope: ![[ORDER]], inlinedAt:
// CHECK-DAG: ![[DISAGREES]] = !DILocation(line: 40, column: 34, scope: ![[#]])
// CHECK-DAG: ![[MERGED]] = !DILocation({{.*}}scope: ![[MERGED_SCOPE:[0-9]+]])
// CHECK-DAG: ![[MERGED_SCOPE]] = distinct !DISubprogram(name: "merged"
// CHECK-DAG: ![[MACRO]] = !DILocation(line: 54, column: 25, scope: ![[MACRO_SCOPE:[0-9]+]])
// CHECK-DAG: ![[MACRO_SCOPE]] = distinct !DISubprogram(name: "macro"
// CHECK-DAG: ![[BOX_ORDER]] = !DILocation({{.*}}scope: ![[ORDER]], inlinedAt:
// CHECK-DAG: ![[BOX_SHORT]] = !DILocation({{.*}}scope: ![[SHORT:[0-9]+]], inlinedAt:
// CHECK-DAG: ![[SHORT]] = distinct !DISubprogram(name: "_ZTSs"
// NONE-NOT: _ZTS
// NONE: @__mprof__Znwm
// NONE-NOT: _ZTS
