#include <coroutine>
#include <cstdlib>
#include <exception>
#include <utility>

static std::coroutine_handle<>
    ready; // the coroutine that the event loop resumes next

struct task { // starts when it is awaited, and then resumes the awaiting
              // coroutine
  struct promise_type {
    std::coroutine_handle<> continuation = std::noop_coroutine();
    task get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct awaiter : std::suspend_always {
        std::coroutine_handle<> next;
        std::coroutine_handle<>
        await_suspend(std::coroutine_handle<>) noexcept {
          return next;
        }
      };
      return awaiter{{}, continuation};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;

  bool await_ready() { return false; }
  auto await_suspend(std::coroutine_handle<> awaiting) {
    handle.promise().continuation = awaiting;
    return handle;
  }
  void await_resume() { handle.destroy(); }
};

struct input : std::suspend_always { // waits until the event loop has data
  void await_suspend(std::coroutine_handle<> h) { ready = h; }
};

static void *cache[100];
static int cached;

task read_block(int bytes) {
  co_await input();
  cache[cached++] = malloc(bytes); // never freed
}

task read_page() {
  for (int i = 0; i < 8; i++)
    co_await read_block(4000);
}

task read_index() { co_await read_block(1000); }

task serve() {
  co_await read_index();
  co_await read_page();
}

int main() {
  task t = serve();
  for (ready = t.handle; !t.handle.done();)
    std::exchange(ready, nullptr).resume();
  t.handle.destroy();
}
