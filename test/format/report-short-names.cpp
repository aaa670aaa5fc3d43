// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report shows functions by their names alone, without result type,
// template arguments and parameters, as pprof does. The profile has the full
// names. The report after a signal, which has no names, says which command adds
// names to the profiles.
//
// RUN: %mprof_clangxx -fmprof -g -O1 %s -o %t && rm -f %t.log* %t.sig*
// RUN: %run{heap_rate=1:log_path=%t.log} %t
// RUN: cat %t.log*.txt | FileCheck %s --implicit-check-not=Names:
// RUN: not --crash env MPROF_OPTIONS=heap_rate=1:dump_on_signal=terminate:log_path=%t.sig %t 1
// RUN: cat %t.sig*.txt | FileCheck %s --check-prefix=SIGNAL
// A name of 160 characters is complete, and a longer one is cut.
// CHECK: in {{n{160} .*}}.cpp
// CHECK-NEXT: in {{n{160}\.\.\. .*}}.cpp
// CHECK: in ns::box::make {{.*}}.cpp
// CHECK-NEXT: in ns::run::$_0::operator() {{.*}}.cpp
// SIGNAL: {{^}}Names: {{.*}}mprof symbolize adds names to the profiles (*.pb.gz), not to this text{{$}}

#include <csignal>
#include <map>
#include <string>

namespace ns {
template <class T> struct box {
  template <class U> __attribute__((noinline)) T *make(U n) {
    return new T[n + 1];
  }
};

void *run(int n) {
  auto make = [](int n) __attribute__((noinline)) {
    return box<std::map<int, std::string>>().make<long>(n);
  };
  return make(n);
}
} // namespace ns

static void *volatile keep;

#define N40 nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
#define JOIN(a, b, c, d, e) a##b##c##d##e
#define NAME(a, b, c, d, e) JOIN(a, b, c, d, e)
__attribute__((noinline)) void *NAME(N40, N40, N40, N40, )(int n) {
  return new char[n];
}
__attribute__((noinline)) void *NAME(N40, N40, N40, N40, n)(int n) {
  keep = NAME(N40, N40, N40, N40, )(n + 100000);
  return keep;
}

int main(int argc, char **) {
  static void *volatile second;
  second = NAME(N40, N40, N40, N40, n)(argc);
  keep = ns::run(argc);
  if (argc > 1)
    raise(SIGTERM);
  return keep == nullptr;
}
