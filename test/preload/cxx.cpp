// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a C++ program that was built without MProf, blocks of operator new
// are counted at the function that calls it, waits of the C++ library's classes
// are recorded, and a thread has the name of the function that std::thread was
// given. The C++ library is loaded before the program needs it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -O2 -g1 %s -o app -pthread
// RUN: %run{heap_rate=1:block_rate=1:trace=1:log_path=x} \
// RUN:   LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: (40,000 bytes) in 400 blocks
// CHECK-NEXT: in make {{.*}}cxx.cpp:[[#]]
// CHECK: Where threads waited
// CHECK: pthread_cond_wait
// CHECK: in waiter {{.*}}cxx.cpp:[[#]]
// RUN: %mprof trace top x.*.trace | FileCheck --check-prefix=TRACE %s
// TRACE: waiter G{{[0-9]+}} at

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable condition;
static bool is_ready;
struct node {
  char bytes[100];
};
static std::vector<std::unique_ptr<node>> nodes;

__attribute__((noinline)) void make() {
  nodes.push_back(std::unique_ptr<node>(new node));
}

void waiter() {
  std::unique_lock<std::mutex> lock(mutex);
  condition.wait(lock, [] { return is_ready; });
}

int main() {
  nodes.reserve(400);
  std::thread thread(waiter);
  for (int i = 0; i < 400; i++)
    make();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  {
    std::lock_guard<std::mutex> lock(mutex);
    is_ready = true;
  }
  condition.notify_all();
  thread.join();
  try {
    throw 1;
  } catch (int) {
  }
  return 0;
}
