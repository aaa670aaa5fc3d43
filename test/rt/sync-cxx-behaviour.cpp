// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the threads and waits of libstdc++ give the same results and throw
// the same exceptions with and without MProf. So do those of libc++ with MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -std=c++20 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clangxx -fmprof -std=c++20 -O1 -pthread -I%src/test/Inputs %s \
// RUN:   -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// RUN: %if libcxx %{ %mprof_clangxx -fmprof -std=c++20 -O0 -pthread -I%src/test/Inputs \
// RUN:   -stdlib=libc++ -fexperimental-library %s -o app-libcxx %}
// RUN: %if libcxx %{ %run_quiet{block_rate=0:mutex_fraction=0} \
// RUN:   timeout 600 ./app-libcxx > off-libcxx.txt %}
// RUN: %if libcxx %{ diff plain.txt off-libcxx.txt %}
// RUN: %if libcxx %{ %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app-libcxx > on-libcxx.txt %}
// RUN: %if libcxx %{ diff plain.txt on-libcxx.txt %}
//
// CHECK: -- std::mutex
// CHECK: held, m.try_lock(): 0
// CHECK: counted by all: 4000
// CHECK: -- std::timed_mutex
// CHECK: held, m.try_lock_for(10ms): 0
// CHECK: -- std::condition_variable
// CHECK: c.wait_for(lock, 10ms) == std::cv_status::timeout: 1
// CHECK: -- futures
// CHECK: f.wait_for(10ms) == std::future_status::timeout: 1
// CHECK: f.get() threw: thrown by the task
// CHECK: -- threads
// CHECK: std::thread threw: thrown by a copy
// CHECK: -- call_once
// CHECK: threw: thrown by the function
// CHECK: runs: 2
// CHECK: end

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sync-observe.h"

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Prints the number that an expression yields. errno is not printed: inside the
// library it depends on which thread comes first.
#define SEE(expr) say("%s: %ld", #expr, (long)(expr))
#define SEE_AS(who, expr) say("%s, %s: %ld", who, #expr, (long)(expr))

// Prints the exception that an expression throws.
#define SEE_THROWN(text, expr)                                                 \
  do {                                                                         \
    try {                                                                      \
      expr;                                                                    \
      say("%s threw nothing", text);                                           \
    } catch (const std::future_error &e) {                                     \
      say("%s threw future_error %d", text, e.code().value());                 \
    } catch (const std::system_error &e) {                                     \
      say("%s threw system_error %s", text, error_name(e.code().value()));     \
    } catch (const std::exception &e) {                                        \
      say("%s threw: %s", text, e.what());                                     \
    }                                                                          \
  } while (0)

static void in_thread(std::function<void()> f) { std::thread(f).join(); }

// A thread that is known to wait for an object.
class Waiting {
  std::atomic<pid_t> tid{0};
  std::thread thread;

public:
  Waiting(std::function<void()> f, const void *object = nullptr,
          size_t size = 0)
      : thread([this, f] {
          tid = own_tid();
          f();
        }) {
    while (tid == 0)
      usleep(100);
    until_blocked(tid, SYS_futex, object, size);
  }
  ~Waiting() { thread.join(); }
};

template <typename M> static void exclude_each_other() {
  static M m;
  long count = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 4; i++)
    all.emplace_back([&] {
      for (int j = 0; j < 1000; j++) {
        std::lock_guard<M> guard(m);
        count++;
      }
    });
  for (std::thread &t : all)
    t.join();
  say("counted by all: %ld", count);
}

template <typename M> static void hand_over() {
  static M m;
  m.lock();
  {
    Waiting w([] {
      m.lock();
      say("waited and got it");
      m.unlock();
    });
    m.unlock();
  }
}

static void use_mutex() {
  say("-- std::mutex");
  static std::mutex m;
  SEE(m.try_lock());
  in_thread([] { SEE_AS("held", m.try_lock()); });
  m.unlock();
  in_thread([] {
    SEE_AS("given up", m.try_lock());
    m.unlock();
  });
  hand_over<std::mutex>();
  exclude_each_other<std::mutex>();
  std::unique_lock<std::mutex> lock(m, std::defer_lock);
  SEE(lock.owns_lock());
  SEE(lock.try_lock());
  SEE_THROWN("locked twice", lock.lock());
  SEE_THROWN("tried twice", (void)lock.try_lock());
  SEE_THROWN("unlocked", lock.unlock());
  SEE_THROWN("unlocked twice", lock.unlock());
  // Several mutexes at once.
  std::mutex a, b;
  {
    std::scoped_lock both(a, b);
    in_thread([&] { SEE_AS("second held", std::try_lock(b, a)); });
  }
  SEE(std::try_lock(a, b));
  a.unlock(), b.unlock();
}

template <typename M> static void use_timed(const char *name, bool recursive) {
  say("-- %s", name);
  static M m;
  SEE(m.try_lock());
  if (recursive) {
    SEE_AS("again", m.try_lock());
    SEE_AS("again", m.try_lock_for(10ms));
    m.lock();
    m.unlock(), m.unlock(), m.unlock();
  }
  in_thread([] {
    SEE_AS("held", m.try_lock());
    SEE_AS("held", m.try_lock_for(10ms));
    SEE_AS("held", m.try_lock_for(-1s));
    SEE_AS("held", m.try_lock_until(Clock::now() + 10ms));
    SEE_AS("held", m.try_lock_until(std::chrono::system_clock::now() + 10ms));
  });
  {
    Waiting w([] {
      SEE_AS("waited", m.try_lock_for(20s));
      m.unlock();
    });
    m.unlock();
  }
  in_thread([] {
    SEE_AS("free", m.try_lock_for(0s));
    m.unlock();
  });
  hand_over<M>();
  exclude_each_other<M>();
}

static void use_recursive() {
  say("-- std::recursive_mutex");
  static std::recursive_mutex m;
  m.lock();
  SEE(m.try_lock());
  m.lock();
  m.unlock(), m.unlock();
  in_thread([] { SEE_AS("held once still", m.try_lock()); });
  m.unlock();
  in_thread([] {
    SEE_AS("given up", m.try_lock());
    m.unlock();
  });
  hand_over<std::recursive_mutex>();
  exclude_each_other<std::recursive_mutex>();
}

template <typename M> static void share(const char *name) {
  say("-- %s", name);
  static M m;
  m.lock_shared();
  in_thread([] {
    SEE_AS("shared", m.try_lock_shared());
    SEE_AS("shared", m.try_lock());
    m.unlock_shared();
  });
  {
    Waiting w([] {
      m.lock();
      say("waited for readers");
      m.unlock();
    });
    m.unlock_shared();
  }
  m.lock();
  in_thread([] {
    SEE_AS("held", m.try_lock_shared());
    SEE_AS("held", m.try_lock());
  });
  {
    std::latch both{2};
    auto read = [&] {
      std::shared_lock<M> lock(m);
      both.arrive_and_wait();
    };
    Waiting a(read), b(read);
    m.unlock();
  }
  say("both read at once");
  hand_over<M>();
  exclude_each_other<M>();
}

static void share_timed() {
  static std::shared_timed_mutex m;
  m.lock();
  in_thread([] {
    SEE_AS("held", m.try_lock_for(10ms));
    SEE_AS("held", m.try_lock_shared_for(10ms));
    SEE_AS("held", m.try_lock_until(Clock::now() + 10ms));
    SEE_AS("held", m.try_lock_shared_until(Clock::now() - 1s));
  });
  m.unlock();
  SEE(m.try_lock_for(1s));
  m.unlock();
  SEE(m.try_lock_shared_for(1s));
  in_thread([] { SEE_AS("shared", m.try_lock_for(10ms)); });
  m.unlock_shared();
}

template <typename C> static void use_cond(const char *name) {
  say("-- %s", name);
  static C c;
  static std::mutex m;
  static bool ready, never;
  c.notify_one();
  c.notify_all();
  std::unique_lock<std::mutex> lock(m);
  SEE(c.wait_for(lock, 10ms) == std::cv_status::timeout);
  SEE(c.wait_for(lock, -1s) == std::cv_status::timeout);
  SEE(c.wait_until(lock, Clock::now() + 10ms) == std::cv_status::timeout);
  SEE(c.wait_until(lock, std::chrono::system_clock::now() + 10ms) ==
      std::cv_status::timeout);
  SEE(c.wait_for(lock, 10ms, [] { return never; }));
  SEE(c.wait_for(lock, 10ms, [] { return !never; }));
  SEE(lock.owns_lock());
  in_thread([] { SEE_AS("after the wait", m.try_lock()); });
  lock.unlock();
  for (int way = 0; way < 4; way++) {
    ready = false;
    Waiting w([way] {
      std::unique_lock<std::mutex> lock(m);
      if (way == 0)
        c.wait(lock, [] { return ready; });
      else if (way == 1)
        SEE_AS("notified", c.wait_for(lock, 20s, [] { return ready; }));
      else if (way == 2)
        SEE_AS("notified", c.wait_for(lock, 20s) == std::cv_status::no_timeout);
      else
        SEE_AS("notified",
               c.wait_until(lock, std::chrono::system_clock::now() + 20s,
                            [] { return ready; }));
      SEE_AS("notified", lock.owns_lock());
    });
    {
      std::lock_guard<std::mutex> guard(m);
      ready = true;
    }
    c.notify_one();
  }
  ready = false;
  {
    auto wait = [] {
      std::unique_lock<std::mutex> lock(m);
      c.wait(lock, [] { return ready; });
    };
    Waiting a(wait), b(wait), d(wait);
    {
      std::lock_guard<std::mutex> guard(m);
      ready = true;
    }
    c.notify_all();
  }
  say("all were notified");
}

static void use_cond_any() {
  static std::condition_variable_any c;
  static std::shared_mutex m;
  {
    std::shared_lock<std::shared_mutex> lock(m);
    SEE(c.wait_for(lock, 10ms) == std::cv_status::timeout);
    in_thread([] { SEE_AS("shared", m.try_lock()); });
  }
  std::stop_source source;
  {
    Waiting w([&] {
      std::shared_lock<std::shared_mutex> lock(m);
      SEE_AS("stopped", c.wait(lock, source.get_token(), [] { return false; }));
    });
    source.request_stop();
  }
}

static void use_semaphores() {
  say("-- semaphores, latches, barriers");
  static std::counting_semaphore<5> s{1};
  SEE(s.try_acquire());
  SEE(s.try_acquire());
  SEE(s.try_acquire_for(10ms));
  SEE(s.try_acquire_until(Clock::now() + 10ms));
  s.release(2);
  SEE(s.try_acquire_for(1s));
  s.acquire();
  {
    Waiting a([] { s.acquire(); }), b([] { s.acquire(); });
    s.release(2);
  }
  SEE(s.try_acquire());
  {
    std::binary_semaphore ping{0}, pong{0};
    std::thread other([&] {
      for (int i = 0; i < 300; i++)
        ping.acquire(), pong.release();
    });
    for (int i = 0; i < 300; i++)
      ping.release(), pong.acquire();
    other.join();
    say("300 turns");
  }
  std::latch latch{2};
  SEE(latch.try_wait());
  {
    Waiting w([&] { latch.wait(); });
    latch.count_down(2);
  }
  SEE(latch.try_wait());
  int completed = 0;
  std::barrier barrier(3, [&]() noexcept { completed++; });
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 3; i++)
      all.emplace_back([&] {
        for (int j = 0; j < 20; j++)
          barrier.arrive_and_wait();
        barrier.arrive_and_drop();
      });
  }
  say("completed %d times", completed);
  std::atomic<int> word{0};
  {
    Waiting w([&] { word.wait(0); });
    word = 1;
    word.notify_one();
  }
  std::atomic<long> wide{0};
  {
    Waiting w([&] { wide.wait(0); });
    wide = 1;
    wide.notify_all();
  }
  say("waited for atomics");
}

[[noreturn]] static int throw_it() {
  throw std::runtime_error("thrown by the task");
}

static void use_futures() {
  say("-- futures");
  {
    std::promise<int> p;
    std::future<int> f = p.get_future();
    SEE(f.valid());
    SEE(f.wait_for(0s) == std::future_status::timeout);
    SEE(f.wait_for(10ms) == std::future_status::timeout);
    SEE(f.wait_until(Clock::now() + 10ms) == std::future_status::timeout);
    SEE(f.wait_until(std::chrono::system_clock::now() + 10ms) ==
        std::future_status::timeout);
    {
      Waiting w([&] { SEE_AS("waited", f.get()); });
      p.set_value(7);
    }
    SEE(f.valid());
    SEE_THROWN("p.set_value(8)", p.set_value(8));
    SEE_THROWN("p.get_future()", (void)p.get_future());
  }
  {
    std::promise<void> p;
    std::shared_future<void> f = p.get_future().share();
    {
      Waiting a([f] { f.wait(); });
      Waiting b([f] { SEE(f.wait_for(20s) == std::future_status::ready); });
      p.set_value();
    }
    SEE(f.wait_for(0s) == std::future_status::ready);
  }
  {
    std::promise<int> p;
    std::future<int> f = p.get_future();
    {
      Waiting w([&] { SEE_THROWN("f.get()", f.get()); });
      try {
        throw_it();
      } catch (...) {
        p.set_exception(std::current_exception());
      }
    }
    std::future<int> broken;
    {
      std::promise<int> q;
      broken = q.get_future();
    }
    SEE(broken.wait_for(0s) == std::future_status::ready);
    SEE_THROWN("broken.get()", broken.get());
  }
  {
    std::promise<int> p;
    std::future<int> f = p.get_future();
    std::thread t([&] { p.set_value_at_thread_exit(5); });
    SEE(f.get());
    t.join();
  }
  {
    std::future<int> f = std::async(std::launch::async, [] { return 3; });
    SEE(f.get());
    f = std::async(std::launch::async, throw_it);
    SEE_THROWN("f.get()", f.get());
    f = std::async(std::launch::deferred, [] { return 4; });
    SEE(f.wait_for(0s) == std::future_status::deferred);
    SEE(f.get());
    f = std::async(std::launch::deferred, throw_it);
    SEE_THROWN("f.get()", f.get());
    std::latch begun{1}, go{1};
    f = std::async(std::launch::async, [&] {
      begun.count_down();
      go.wait();
      return 6;
    });
    begun.wait();
    SEE(f.wait_for(10ms) == std::future_status::timeout);
    go.count_down();
    SEE(f.wait_for(20s) == std::future_status::ready);
    SEE(f.get());
  }
  {
    std::packaged_task<int(int)> task([](int i) { return i + 1; });
    std::future<int> f = task.get_future();
    std::thread t(std::ref(task), 10);
    SEE(f.get());
    t.join();
    SEE_THROWN("task", task(1));
    std::packaged_task<int()> thrower(throw_it);
    f = thrower.get_future();
    thrower();
    SEE_THROWN("f.get()", f.get());
  }
}

struct ThrowingCopy {
  ThrowingCopy() = default;
  ThrowingCopy(const ThrowingCopy &) {
    throw std::runtime_error("thrown by a copy");
  }
  void operator()() const {}
};

static void use_threads() {
  say("-- threads");
  ThrowingCopy copied;
  SEE_THROWN("std::thread", std::thread t(copied));
  SEE_THROWN("std::jthread", std::jthread t(copied));
  SEE_THROWN("std::async", (void)std::async(std::launch::async, copied));
  std::thread t;
  SEE(t.joinable());
  SEE_THROWN("t.join()", t.join());
  SEE_THROWN("t.detach()", t.detach());
  int seen = 0;
  t = std::thread(
      [&seen](int a, const std::string &b, std::unique_ptr<int> c) {
        seen = a + (int)b.size() + *c;
      },
      1, "four", std::make_unique<int>(5));
  SEE(t.joinable());
  t.join();
  SEE(t.joinable());
  say("seen %d", seen);
  SEE_THROWN("t.join()", t.join());
  std::latch assigned{1}, tried{1};
  t = std::thread([&] {
    assigned.wait();
    SEE_THROWN("own join", t.join());
    tried.count_down();
  });
  assigned.count_down();
  tried.wait();
  t.join();
  {
    std::atomic<pid_t> tid{0};
    std::jthread waiter([&](std::stop_token token) {
      tid = own_tid();
      std::mutex m;
      std::condition_variable_any c;
      std::unique_lock<std::mutex> lock(m);
      SEE_AS("stopped", c.wait(lock, token, [] { return false; }));
      SEE_AS("stopped", token.stop_requested());
    });
    while (tid == 0)
      usleep(100);
    until_blocked(tid, SYS_futex, nullptr, 0);
    SEE(waiter.get_stop_token().stop_possible());
    SEE(waiter.get_stop_token().stop_requested());
    // The destructor requests the stop and joins.
  }
  {
    std::latch registered{1};
    std::jthread waiter([&](std::stop_token token) {
      std::stop_callback callback(token, [] { say("called back"); });
      registered.count_down();
      while (!token.stop_requested())
        std::this_thread::sleep_for(1ms);
    });
    registered.wait();
    SEE(waiter.request_stop());
    SEE(waiter.request_stop());
  }
  Clock::time_point before = Clock::now();
  std::this_thread::sleep_for(5ms);
  std::this_thread::sleep_until(before + 10ms);
  std::this_thread::sleep_for(-1s);
  std::this_thread::sleep_until(before);
  SEE(Clock::now() - before >= 10ms);
}

static void use_call_once() {
  say("-- call_once");
  static std::once_flag flag;
  static int runs;
  auto run_badly = [] {
    runs++;
    throw std::runtime_error("thrown by the function");
  };
  auto run = [] { runs++; };
  SEE_THROWN("std::call_once", std::call_once(flag, run_badly));
  SEE_THROWN("std::call_once", std::call_once(flag, run));
  SEE_THROWN("std::call_once", std::call_once(flag, run));
  say("runs: %d", runs);
  // Another thread waits for the thread that runs the function.
  static std::once_flag slow;
  static std::latch go{1};
  runs = 0;
  {
    Waiting first([] {
      std::call_once(slow, [] {
        go.wait();
        runs++;
      });
    });
    Waiting second([] { std::call_once(slow, [] { runs++; }); });
    go.count_down();
  }
  say("runs: %d", runs);
  // A static variable is initialized once, too.
  auto make = [] {
    static int made = runs++;
    return made;
  };
  in_thread([&] { SEE(make()); });
  SEE(make());
  say("runs: %d", runs);
}

int main() {
  use_mutex();
  use_timed<std::timed_mutex>("std::timed_mutex", false);
  use_timed<std::recursive_timed_mutex>("std::recursive_timed_mutex", true);
  use_recursive();
  share<std::shared_mutex>("std::shared_mutex");
  share<std::shared_timed_mutex>("std::shared_timed_mutex");
  share_timed();
  use_cond<std::condition_variable>("std::condition_variable");
  use_cond<std::condition_variable_any>("std::condition_variable_any");
  use_cond_any();
  use_semaphores();
  use_futures();
  use_threads();
  use_call_once();
  say("end");
  return 0;
}
