// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a C program opens an instrumented C++ library. The runtime then finds
// the C++ functions that the library calls, although the process did not have
// these functions when it started.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -std=c++20 -O2 -fPIC -shared %s -o plugin.so
// RUN: %mprof_clang -fmprof -O2 -x c -DHOST -I%src/test/Inputs %s -o host
// RUN: %run{heap_rate=1:block_rate=1:mutex_fraction=1:log_path=out} \
// RUN:   ./host | FileCheck %s
// RUN: %mprof_read out.*.threadcreate.pb.gz | FileCheck %s --check-prefix=THREADS
// CHECK: 7
// THREADS: threadcreate

#ifdef HOST
#include "plugin_host.h"

int main(void) { printf("%d\n", ((int (*)(void))plugin_work())()); }
#else
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

extern "C" int work() {
  std::mutex mutex;
  std::condition_variable changed;
  std::promise<int> promise;
  bool is_done = false;
  auto value = std::make_unique<int>(3);
  std::thread thread([&] {
    std::lock_guard lock(mutex);
    is_done = true;
    changed.notify_all();
    promise.set_value(4);
  });
  std::unique_lock lock(mutex);
  while (!is_done)
    changed.wait(lock);
  lock.unlock();
  int result = *value + promise.get_future().get();
  thread.join();
  return result;
}
#endif
