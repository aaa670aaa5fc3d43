// Intent: the pass produces valid IR at every optimization level, with and
// without debug information, exceptions, sanitizers and LTO.
// ThreadSanitizer of LLVM 16 instruments loads with !nosanitize, too, so TSAN is not checked there.
// RUN: %clangxx_mprof -O0 -g0 -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -O0 -g -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -O2 -g -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -Oz -g1 -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -O2 -fno-exceptions -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -O2 -flto=thin -c -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -O2 -flto -c -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -O1 -fsanitize=address -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -O1 -fsanitize=thread -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s --check-prefixes=CHECK%if clang-16 %{%} %else %{,TSAN%}
// RUN: %clangxx_mprof -O1 -fsanitize=memory -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -O2 -c -o %t.o %s
#include <map>
#include <memory>
#include <string>
#include <vector>

// TSAN-NOT: call void @__tsan_{{(read|write)}}8({{.*}}@__mprof_
// CHECK-DAG: {{(call|invoke)}} {{.*}}@__mprof__Znwm(
// CHECK-DAG: call {{.*}}@__mprof__ZdlPv
// CHECK-DAG: !"mprof", i32 2}
std::shared_ptr<std::map<std::string, std::vector<int>>> f(const char *text) {
  auto map = std::make_shared<std::map<std::string, std::vector<int>>>();
  for (; *text; text++)
    (*map)[std::string(text) + "and a tail that does not fit"].push_back(*text);
  return map;
}
