// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with libstdc++ and libc++, a wait for a lock, condition, future,
// semaphore, latch, barrier, atomic or thread is in the block profile. The wait
// is at the waiting function. An unlock that ends a wait for a lock is in the
// mutex profile.
//
// RUN: %mprof_clangxx -fmprof -std=c++20 -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t
// RUN: %if libcxx %{ %mprof_clangxx -fmprof -std=c++20 -stdlib=libc++ -O0 -I%src/test/Inputs %s -o %t.libcxx %}
// RUN: %if libcxx %{ %run_quiet{block_rate=1:mutex_fraction=1} %t.libcxx %}

#include "waited.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

static std::mutex plain;
static std::timed_mutex timed;
static std::recursive_mutex recursive;
static std::recursive_timed_mutex recursive_timed;
static std::shared_mutex shared;
static std::shared_timed_mutex shared_timed;
static std::condition_variable cond;
static std::condition_variable_any any;
static std::counting_semaphore<8> sem(0);
static std::latch latch(1);
static std::barrier<> barrier(2);
static std::atomic<int> word(0);
static std::promise<int> promise;
static std::future<int> future;
static std::once_flag once;
static std::atomic<bool> may_end, once_runs;
static std::thread other;
static bool flag;

// The asm statements prevent tail calls, which would leave no frame.
#define PLACE(Name, Wait, Release)                                             \
  OWN_CODE(wait_##Name) static void wait_##Name(void *) {                      \
    Wait;                                                                      \
    __asm__ volatile("" ::: "memory");                                         \
  }                                                                            \
  OWN_CODE(release_##Name) static void release_##Name() {                      \
    Release;                                                                   \
    __asm__ volatile("" ::: "memory");                                         \
  }                                                                            \
  DECLARE_CODE(wait_##Name);                                                   \
  DECLARE_CODE(release_##Name);

#define LOCK(Name, Lock, Take, Wait, Give)                                     \
  static void take_##Name() { Lock.Take(); }                                   \
  PLACE(                                                                       \
      Name,                                                                    \
      {                                                                        \
        Lock.Wait();                                                           \
        Lock.Give();                                                           \
      },                                                                       \
      Lock.unlock())
LOCK(plain, plain, lock, lock, unlock)
LOCK(timed, timed, lock, lock, unlock)
LOCK(recursive, recursive, lock, lock, unlock)
LOCK(recursive_timed, recursive_timed, lock, lock, unlock)
LOCK(shared, shared, lock, lock, unlock)
LOCK(reader, shared, lock, lock_shared, unlock_shared)
LOCK(shared_timed, shared_timed, lock, lock, unlock)
LOCK(timed_reader, shared_timed, lock, lock_shared, unlock_shared)

// A reader holds the lock that a writer waits for.
static void take_writer() { shared.lock_shared(); }
PLACE(
    writer,
    {
      shared.lock();
      shared.unlock();
    },
    shared.unlock_shared())

// A recursive mutex is free only after the last of two unlocks.
OWN_CODE(early) static void early() { recursive.unlock(); }
DECLARE_CODE(early);
static void take_twice() {
  recursive.lock();
  recursive.lock();
}
PLACE(
    twice,
    {
      recursive.lock();
      recursive.unlock();
    },
    {
      early();
      usleep(1000);
      recursive.unlock();
    })

#define COND(Name, Cond, Wait, Notify)                                         \
  PLACE(                                                                       \
      Name,                                                                    \
      {                                                                        \
        std::unique_lock<std::mutex> l(plain);                                 \
        while (!flag)                                                          \
          Cond.Wait;                                                           \
        flag = false;                                                          \
      },                                                                       \
      {                                                                        \
        plain.lock();                                                          \
        flag = true;                                                           \
        plain.unlock();                                                        \
        Cond.Notify();                                                         \
      })
COND(cond, cond, wait(l), notify_one)
COND(cond_all, cond, wait(l), notify_all)
COND(cond_for, cond, wait_for(l, 1000s), notify_one)
COND(cond_until, cond, wait_until(l, std::chrono::system_clock::now() + 1000s),
     notify_one)
// The notified thread may wait a second time, for the mutex inside the
// condition, which the notifier still holds. Of these equal waits, at least one
// must be exactly one wait.
#define EACH_ANY(Do)                                                           \
  Do(any0) Do(any1) Do(any2) Do(any3) Do(any4) Do(any5) Do(any6) Do(any7)      \
      Do(any8) Do(any9)
#define COND_ANY(Name) COND(Name, any, wait(l), notify_one)
EACH_ANY(COND_ANY)

// These objects spin before they sleep. The waiter sleeps when they are
// released.
PLACE(semaphore, sem.acquire(), sem.release())
PLACE(latch, latch.wait(), latch.count_down())
PLACE(barrier, barrier.arrive_and_wait(), (void)barrier.arrive())
PLACE(atomic, word.wait(0), {
  word = 1;
  word.notify_all();
})
PLACE(future, future.wait(), promise.set_value(1))

static void until_may_end() {
  while (!may_end)
    usleep(1000);
}
static void create() {
  may_end = false;
  other = std::thread(until_may_end);
}
PLACE(join, other.join(), may_end = true)
static void begin_once() {
  may_end = false;
  other = std::thread([] {
    std::call_once(once, [] {
      once_runs = true;
      until_may_end();
    });
  });
  while (!once_runs)
    usleep(100);
}
PLACE(once, std::call_once(once, [] { abort(); }), may_end = true)
static int initialize() {
  once_runs = true;
  until_may_end();
  return 1;
}
__attribute__((noinline)) static int static_variable() {
  static const int value = initialize();
  return value;
}
static void begin_static() {
  other.join();
  may_end = once_runs = false;
  other = std::thread([] { static_variable(); });
  while (!once_runs)
    usleep(100);
}
PLACE(static_use, static_variable(), may_end = true)

int main() {
  future = promise.get_future();
#define ROW(Name, Take, IsLock)                                                \
  {#Name,                                                                      \
   Take,                                                                       \
   wait_##Name,                                                                \
   release_##Name,                                                             \
   nullptr,                                                                    \
   SYS_futex,                                                                  \
   "any",                                                                      \
   IsLock ? "any" : nullptr,                                                   \
   CODE(wait_##Name),                                                          \
   CODE(release_##Name)}
  const contest contests[] = {
      ROW(plain, take_plain, true),
      ROW(timed, take_timed, true),
      ROW(recursive, take_recursive, true),
      ROW(recursive_timed, take_recursive_timed, true),
      ROW(shared, take_shared, true),
      ROW(reader, take_reader, true),
      ROW(shared_timed, take_shared_timed, true),
      ROW(timed_reader, take_timed_reader, true),
      ROW(writer, take_writer, true),
      ROW(twice, take_twice, true),
      ROW(cond, nullptr, false),
      ROW(cond_all, nullptr, false),
      ROW(cond_for, nullptr, false),
      ROW(cond_until, nullptr, false),
      ROW(semaphore, nullptr, false),
      ROW(latch, nullptr, false),
#ifndef _LIBCPP_VERSION // libc++'s barrier polls, with sleeps
      ROW(barrier, nullptr, false),
#endif
      ROW(atomic, nullptr, false),
      ROW(future, nullptr, false),
      ROW(join, create, false),
      ROW(once, begin_once, false),
      ROW(static_use, begin_static, false),
  };
  for (const contest &c : contests)
    run_contest(&c, ANYWHERE);
#define ROW_ANY(Name) ROW(Name, nullptr, false),
  const contest equal[] = {EACH_ANY(ROW_ANY)};
  const int before = failures;
  bool is_exact = false;
  for (const contest &c : equal) {
    failures = 0;
    run_contest(&c, ANYWHERE);
    is_exact |= failures == 0;
  }
  failures = before + !is_exact;
  other.join();
  const code c = CODE(early);
  check_waited("early unlock", "mutex",
               waited_in(mprof_mutex_profile, &c, ANYWHERE),
               expected{0, nullptr, 0, 0});
  return failures != 0;
}
