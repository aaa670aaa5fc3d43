// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task as in common libraries of coroutines: it starts when it is awaited,
// and its promise has the handle of the awaiting coroutine. A task continues
// another by symmetric transfer, so tasks do not pile up on the stack.

#ifndef MPROF_TEST_INPUTS_TASK_H
#define MPROF_TEST_INPUTS_TASK_H

#include <coroutine>
#include <exception>
#include <utility>

// The last coroutine that waits for the event loop.
inline std::coroutine_handle<> in_loop;

// Suspends the coroutine until the event loop resumes it.
struct next_round {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) { in_loop = h; }
  void await_resume() {}
};

class task {
public:
  struct promise_type {
    std::coroutine_handle<> continuation;
    int value = 0;
    std::exception_ptr error;

    struct final_awaiter {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<>
      await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        auto next = h.promise().continuation;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };

    task get_return_object() {
      return task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    final_awaiter final_suspend() noexcept { return {}; }
    void return_value(int v) { value = v; }
    void unhandled_exception() { error = std::current_exception(); }
  };

  task(task &&other) : handle(std::exchange(other.handle, nullptr)) {}
  ~task() {
    if (handle)
      handle.destroy();
  }

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
    handle.promise().continuation = awaiting;
    return handle;
  }
  int await_resume() {
    if (handle.promise().error)
      std::rethrow_exception(handle.promise().error);
    return handle.promise().value;
  }

  std::coroutine_handle<promise_type> handle;

private:
  explicit task(std::coroutine_handle<promise_type> h) : handle(h) {}
};

// Runs t to its end, and returns its result.
__attribute__((noinline)) inline int event_loop(task t) {
  in_loop = t.handle;
  while (!t.handle.done())
    std::exchange(in_loop, nullptr).resume();
  return t.handle.promise().value;
}

#endif // MPROF_TEST_INPUTS_TASK_H
