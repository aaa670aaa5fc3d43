// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof top --by=type knows the types of new expressions and of calls
// of malloc in code that the plugin has compiled: with and without
// optimization, with LTO, with plain clang, in templates, lambdas,
// initializers, code with landing pads and shared libraries. A call that was
// made of calls for two types has none. The scopes with the types are shown
// neither in stacks nor in the report.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for flags in '-O0 -g1' '-O2 -g1' '-O2 -g' '-O2 -g1 -flto' '-O2 -g1 -flto=thin'; do \
// RUN:   rm -f p.*; \
// RUN:   %mprof_clangxx -fmprof $flags -DLIBRARY -fPIC -shared %s -o libshop.so || exit 1; \
// RUN:   %mprof_clangxx -fmprof $flags %s ./libshop.so -o app || exit 1; \
// RUN:   env MPROF_OPTIONS=heap_rate=1:log_path=p:report_top=100 ./app || exit 1; \
// RUN:   %mprof top --by=type -n 0 p.*.heap.pb.gz > text && FileCheck %s < text || exit 1; \
// RUN:   %mprof traces -n 0 --std --full-names p.*.heap.pb.gz > traces || exit 1; \
// RUN:   grep 'in library_order' p.*.txt || exit 1; \
// RUN:   not grep typeinfo p.*.txt traces || exit 1; done
// RUN: %clangxx_mprof -O2 -g1 -DLIBRARY -fPIC -shared %s -o libshop.so
// RUN: %clangxx_mprof -O2 -g1 -c %s -o app.o
// RUN: %mprof_clangxx -fmprof app.o ./libshop.so -o app
// RUN: rm -f p.*; env MPROF_OPTIONS=heap_rate=1:log_path=p ./app
// RUN: %mprof top --by=type -n 0 p.*.heap.pb.gz | FileCheck %s
// RUN: %mprof traces -n 0 --std --full-names p.*.heap.pb.gz > traces && not grep -E 'typeinfo|_ZTS|0x' traces
// RUN: rm -f p.*; %mprof_clangxx -fmprof -fno-mprof-types -O2 -g1 -DLIBRARY -fPIC -shared %s -o libshop.so
// RUN: %mprof_clangxx -fmprof -fno-mprof-types -O2 -g1 %s ./libshop.so -o app
// RUN: %run{heap_rate=1:log_path=p} ./app
// RUN: %mprof top --by=type -n 0 p.*.heap.pb.gz | FileCheck --check-prefix=NONE %s
// CHECK-DAG: 1,000 B {{.*}} % 1 {{.*}} % Array
// CHECK-DAG: 1.95 KiB {{.*}} % 1 {{.*}} % Row
// CHECK-DAG: 2.93 KiB {{.*}} % 1 {{.*}} % Cast
// CHECK-DAG: 3.91 KiB {{.*}} % 1 {{.*}} % Measured
// CHECK-DAG: 4.88 KiB {{.*}} % 1 {{.*}} % Lambda
// CHECK-DAG: 5.86 KiB {{.*}} % 1 {{.*}} % Initializer
// CHECK-DAG: 6.84 KiB {{.*}} % 1 {{.*}} % Box<Row>
// CHECK-DAG: 7.81 KiB {{.*}} % 1 {{.*}} % Box<Cast>
// CHECK-DAG: 8.79 KiB {{.*}} % 1 {{.*}} % (anonymous namespace)::Library
// CHECK-DAG: 9.77 KiB {{.*}} % 1 {{.*}} % Derived
// CHECK-NOT: Wrong
// NONE-NOT: Row
// NONE: [unknown]: 100 %

#include <cstdlib>

void *library_order();
template <unsigned N> struct Sized {
  char bytes[N];
};

#ifdef LIBRARY
namespace {
struct Library : Sized<9000> {};
} // namespace
__attribute__((noinline)) void *library_order() { return new Library; }
#else
struct Array : Sized<10> {};
struct Row : Sized<2000> {};
struct Cast : Sized<3000> {};
struct Measured : Sized<40> {};
struct Lambda : Sized<5000> {};
struct Initializer : Sized<6000> {};
template <class T> struct Box;
template <> struct Box<Row> : Sized<7000> {};
template <> struct Box<Cast> : Sized<8000> {};
struct Base : Sized<100> {};
struct Derived : Base, Sized<9900> {};
struct Wrong : Sized<64> {};
struct AlsoWrong : Sized<64> {};

static void *volatile sink;
template <class T> __attribute__((noinline)) static void fill() {
  sink = new Box<T>;
}
// Its destructor makes calls in its scope have landing pads.
struct Scope {
  ~Scope() { sink = nullptr; }
};
static Row *make_row() { return new Row; } // becomes part of its caller

static Initializer *global = new Initializer;

// The optimizer makes one call of both.
__attribute__((noinline)) static void *merged(bool b) {
  return b ? (void *)new Wrong : (void *)new AlsoWrong;
}

int main(int argc, char **) {
  sink = new Array[100];
  {
    Scope scope;
    sink = make_row();
  }
  sink = (Cast *)malloc(3000u * (unsigned)argc);
  sink = malloc(sizeof(Measured) * 100);
  [] { sink = new Lambda; }();
  fill<Row>();
  fill<Cast>();
  sink = library_order();
  sink = (Base *)malloc(sizeof(Derived));
#ifdef __OPTIMIZE__
  sink = merged(argc > 1);
#endif
  sink = global;
}
#endif
