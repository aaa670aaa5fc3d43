// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the optimization at link time keeps the words of a coroutine's record
// next to each other. Otherwise MProf would not find the record on the stack.
//
// RUN: %clangxx_mprof -std=c++20 -O2 -mllvm -mprof-coroutines -S -emit-llvm -o - %s \
// RUN:   | opt -passes='default<O2>,sroa,instcombine' -S | FileCheck %s

#include <coroutine>

struct task {
  struct promise_type {
    std::coroutine_handle<> awaiting;
    task get_return_object() { return {}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

void plain();

// CHECK: define internal {{.*}}@_Z3runv.resume(
// CHECK: %[[RECORD:.*]] = alloca { i64, ptr, ptr }, align 8
// CHECK-NOT: alloca
// CHECK: store volatile { i64, ptr, ptr } {{.*}}, ptr %[[RECORD]], align 8
// CHECK: }
task run() {
  plain();
  co_return;
}
