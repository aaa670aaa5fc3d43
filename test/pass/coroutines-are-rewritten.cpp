// Intent: a coroutine frame is allocated by operator new and is counted like
// any other block. Calls of custom allocators are counted before and after a
// suspension of the coroutine.
// RUN: %clangxx_mprof -std=c++20 -O0 -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
// RUN: %clangxx_mprof -std=c++20 -O2 -S -emit-llvm -o - %s | opt -passes=verify -S | FileCheck %s
#include <coroutine>
#include <cstddef>

struct Task {
  struct promise_type {
    Task get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
__attribute__((mprof_alloc(1))) void *get(size_t);
__attribute__((mprof_free(1))) void put(void *);

// CHECK-LABEL: define {{.*}}@_Z1fm(
// CHECK: call {{.*}}@__mprof__Znwm(
// CHECK-LABEL: define {{.*}}@_Z1fm.resume(
// CHECK-DAG: call void @__mprof_custom_alloc(
// CHECK-DAG: call void @__mprof_custom_free(
Task f(size_t n) {
  void *p = get(n);
  co_await std::suspend_always();
  put(p);
  void *q = get(n + 1);
  co_await std::suspend_always();
  put(q);
}
