// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads of std::thread, std::jthread and std::async are counted by
// the function that created them, also after they have ended. If a thread
// cannot be created, the constructor throws and nothing is counted. All this
// holds with libstdc++ and libc++.
//
// RUN: %mprof_clangxx -fmprof -std=c++20 -O2 -fexperimental-library -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t
// RUN: %if libcxx %{ %mprof_clangxx -fmprof -std=c++20 -stdlib=libc++ -fexperimental-library -O0 -I%src/test/Inputs %s -o %t.libcxx %}
// RUN: %if libcxx %{ %run_quiet %t.libcxx %}

#include "waited.h"

#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

static std::atomic<int> running, ended;
static std::atomic<bool> may_end;

struct Argument { // destroyed by the thread, or by a failed creator
  static std::atomic<int> alive;
  Argument() { alive++; }
  Argument(const Argument &) { alive++; }
  ~Argument() { alive--; }
};
std::atomic<int> Argument::alive;

static int work(const Argument &) {
  running++;
  while (!may_end)
    usleep(1000);
  ended++;
  return 3;
}

static std::vector<std::thread> threads;
static std::vector<std::jthread> joining;
static std::future<int> future;

OWN_CODE(thread) static void make_threads() {
  for (int i = 0; i < 5; i++)
    threads.emplace_back(work, Argument());
}
OWN_CODE(jthread) static void make_jthreads() {
  for (int i = 0; i < 4; i++)
    joining.emplace_back(work, Argument());
}
OWN_CODE(async) static void make_async() {
  future = std::async(std::launch::async, work, Argument());
}
OWN_CODE(detached) static void make_detached() {
  for (int i = 0; i < 3; i++)
    std::thread(work, Argument()).detach();
}
OWN_CODE(failing) static bool make_none() {
  try {
    std::thread t(work, Argument());
    t.join();
  } catch (const std::system_error &e) {
    return e.code() == std::errc::resource_unavailable_try_again;
  }
  return false;
}
DECLARE_CODE(thread);
DECLARE_CODE(jthread);
DECLARE_CODE(async);
DECLARE_CODE(detached);
DECLARE_CODE(failing);

static int count(const code &c) {
  static mprof_stack_record r[100];
  size_t n;
  int found = 0;
  NEED(mprof_thread_create_profile(r, 100, &n) == 0);
  for (size_t i = 0; i < n; i++) {
    bool is_here = false;
    for (uintptr_t pc : r[i].stack0)
      is_here |= is_in(&c, pc) != 0;
    found += is_here;
  }
  return found;
}

static const code codes[] = {CODE(thread), CODE(jthread), CODE(async),
                             CODE(detached), CODE(failing)};

static void check(const int (&expected)[5], const char *when) {
  for (int i = 0; i < 5; i++)
    if (int n = count(codes[i]); n != expected[i]) {
      fprintf(stderr, "%s: %s: %d threads, expected %d\n", when, codes[i].name,
              n, expected[i]);
      exit(1);
    }
}

// The stack of the thread cannot be mapped.
static void fail() {
  pthread_attr_t attr, before;
  int alive = Argument::alive;
  NEED(pthread_getattr_default_np(&before) == 0);
  NEED(pthread_attr_init(&attr) == 0);
  NEED(pthread_attr_setstacksize(&attr, size_t(1) << 52) == 0);
  NEED(pthread_setattr_default_np(&attr) == 0);
  NEED(make_none());
  NEED(pthread_setattr_default_np(&before) == 0);
  NEED(Argument::alive == alive);
}

int main() {
  atexit([] { may_end = true; }); // a failure must not wait for threads
  fail();
  make_threads();
  make_jthreads();
  make_async();
  make_detached();
  while (running != 13)
    usleep(1000);
  check({5, 4, 1, 3, 0}, "live");
  NEED(Argument::alive == 13);
  may_end = true;
  for (std::thread &t : threads)
    t.join();
  joining.clear();
  NEED(future.get() == 3);
  future = {};
  while (ended != 13)
    usleep(1000);
  check({5, 4, 1, 3, 0}, "ended");
  for (int i = 0; i < 120000 && Argument::alive != 0; i++)
    usleep(1000);
  NEED(Argument::alive == 0);
  return 0;
}
