// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an address whose functions have megabytes of names keeps all of its
// frames. The names are shortened, the innermost ones the least, and the
// report, the profile and the commands say how many. The same holds if a
// command finds the names later.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// A path of the same length in every folder, because it is a part of what is
// cut.
// RUN: %mprof_clangxx -fmprof -O1 -g -fno-builtin -std=c++17 -ffile-prefix-map=%S=/source \
// RUN:   -fdebug-compilation-dir=/source %s -o app
//
// RUN: %run{heap_rate=1:log_path=own} ./app
// RUN: FileCheck --check-prefix=REPORT %s < own.*.txt
// RUN: %mprof traces own.*.heap.pb.gz | FileCheck %s
// RUN: %mprof info own.*.heap.pb.gz | FileCheck --check-prefix=INFO %s
//
// RUN: %run{heap_rate=1:log_path=later:report=0:symbolize=0} ./app
// RUN: %mprof traces later.*.heap.pb.gz 2> err | FileCheck %s
// RUN: FileCheck --check-prefix=LATER %s < err
//
// The innermost name has half of the room, and each other one its share.
// RUN: %mprof symbolize -o named later.*.heap.pb.gz
// RUN: for f in own.*.gz named/*.gz; do zcat $f | tr '\0-\37' '\n' \
// RUN:   | grep -a -o 'void nested<0, P<.*' | awk '{ print (length > 16000 && length < 32768) }'; \
// RUN: done | uniq | grep -x 1
//
// CHECK: {{^ *}}nested<0, P<
// CHECK-NEXT: {{^ *}}nested<1, P<
// CHECK-NEXT: {{^ *}}nested<2, P<
// CHECK-NEXT: {{^ *}}nested<3, P<
// CHECK-NEXT: {{^ *}}nested<4, P<
// CHECK-NEXT: {{^ *}}nested<5, P<
// CHECK-NEXT: {{^ *}}nested<6, P<
// CHECK-NEXT: {{^ *}}main
// REPORT: in nested
// REPORT: in nested
// REPORT: in nested
// REPORT: in nested
// REPORT: in nested
// REPORT: in nested
// REPORT: in nested
// REPORT: in main
// REPORT: 7 names of functions and source files that were shortened
// INFO: names_cut: 7
// LATER: 7 frames of {{.*}}/app have a long name that was shortened

#include <stdlib.h>

template <class A, class B> struct P {};
template <int N> struct Twice {
  typedef P<typename Twice<N - 1>::type, typename Twice<N - 1>::type> type;
};
template <> struct Twice<0> {
  typedef int type;
};

void *volatile kept;

template <int N, class T>
__attribute__((always_inline)) inline void nested(T *t) {
  if constexpr (N > 0)
    nested<N - 1>(t);
  else
    kept = malloc(4000);
}

int main() {
  nested<6>((Twice<16>::type *)nullptr);
  return 0;
}
