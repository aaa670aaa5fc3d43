// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with -mprof-coroutines, the resume function of a coroutine stores a
// record on its stack, and each suspension stores its code address. The handle
// of the awaiting coroutine is found by its type. Without the option, and for
// functions that are no coroutines, nothing changes.
//
// RUN: for level in -O0 -O2; do \
// RUN:   %clangxx_mprof -std=c++20 $level -mllvm -mprof-coroutines -S -emit-llvm -o - %s \
// RUN:     | opt -passes=verify -S > %t && FileCheck %s < %t && \
// RUN:   %clangxx_mprof -std=c++20 $level -S -emit-llvm -o - %s > %t && \
// RUN:   not grep -q 'prefix\|1f\|mprof-coroutine' %t || exit 1; done

#include <coroutine>
#include <optional>

template <class Fields> struct task {
  struct promise_type : Fields {
    task get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

namespace mprof {
struct continuation : std::coroutine_handle<> {};
} // namespace mprof

void plain();

// The layout is: magic number, hash, offset of the handle, offset of the site.
struct nothing {};
// CHECK: define {{.*}}@_Z4nonev({{.*}} prefix [4 x i32] [i32 1836082031, i32 [[NONE:-?[0-9]+]], i32 -1, i32 24]
// CHECK-NOT: -7808707634186390929
// CHECK: {{leaq 1f\(%rip\), \$0|adr \$0, 1f}}
task<nothing> none() {
  plain();
  co_return;
}

struct one {
  int value;
  struct {
    long other;
    std::coroutine_handle<> awaiting;
  } inner;
};
// CHECK: define {{.*}}@_Z6singlev({{.*}} prefix [4 x i32] [i32 1836082031, i32 {{-?[0-9]+}}, i32 32, i32 40]
task<one> single() { co_return; }

struct two {
  std::coroutine_handle<> first;
  std::optional<std::coroutine_handle<>> second;
};
// CHECK: define {{.*}}@_Z7doublesv({{.*}} prefix [4 x i32] [i32 1836082031, i32 {{-?[0-9]+}}, i32 -1, i32 40]

task<two> doubles() { co_return; }

struct declared : two {
  mprof::continuation awaiting;
};
// CHECK: define {{.*}}@_Z8declaresv({{.*}} prefix [4 x i32] [i32 1836082031, i32 {{-?[0-9]+}}, i32 40, i32 48]
task<declared> declares() { co_return; }

struct alignas(64) aligned {
  std::coroutine_handle<> awaiting;
};
// CHECK: define {{.*}}@_Z6alignsv({{.*}} prefix [4 x i32] [i32 1836082031, i32 {{-?[0-9]+}}, i32 64, i32 128]
task<aligned> aligns() { co_return; }

// CHECK-NOT: prefix
// CHECK: define {{.*}}@_Z8ordinaryv(
// CHECK-NOT: prefix
void ordinary() { plain(); }

// CHECK: define internal {{.*}}@_Z4nonev.resume(ptr {{.*}} %[[FRAME:[0-9]+]]){{.*}} prefix [4 x i32] [i32 1836082031, i32 [[NONE]], i32 -1, i32 24]
// CHECK: %[[BP:.*]] = call ptr @llvm.frameaddress
// CHECK: insertvalue { i64, ptr, ptr } { i64 -7808707634186390929, {{.*}} }, ptr %[[BP]], 1
// CHECK: %[[RECORD:.*]] = insertvalue { i64, ptr, ptr } {{.*}}, ptr %[[FRAME]], 2
// CHECK: store volatile { i64, ptr, ptr } %[[RECORD]], ptr
// CHECK: {{leaq 1f\(%rip\), \$0|adr \$0, 1f}}
// CHECK: store volatile ptr
// CHECK: define internal {{.*}}@_Z4nonev.destroy(
// CHECK-NOT: -7808707634186390929
// CHECK: }
