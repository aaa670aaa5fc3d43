// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the overview says for what the thread that ended a long wait had
// itself waited: main joins a thread, which waits for a lock that a third
// holds.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof=trace -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{trace=1:log_path=p:report=0} ./app
// RUN: %build/bin/mprof html p.*.trace -o page.html
// RUN: %python %S/Inputs/browser.py text all page.html#all | FileCheck %s
// CHECK: Overview: {{.*}}join in main main G1 {{.*}}ended by shop::work
// CHECK-SAME: , which waited {{[0-9.]+ (µs|ms|s)}}: lock shop::cache in shop::work
// CHECK-SAME: , last held by shop::hold {{G[23]}} in shop::hold html-wait-chain.cpp:

#include "sync-observe.h"
#include <mutex>
#include <thread>

namespace shop {
static std::mutex cache;
static pid_t tid;
static int holds;

__attribute__((noinline)) static void work() {
  about_to_wait(&tid);
  cache.lock();
  cache.unlock();
}

__attribute__((noinline)) static void hold() {
  cache.lock();
  __atomic_store_n(&holds, 1, __ATOMIC_RELEASE);
  until_waits_for(&tid, &cache, sizeof cache);
  until_main_waits(NULL, 0);
  cache.unlock();
}
} // namespace shop

int main() {
  std::thread holder(shop::hold);
  while (!__atomic_load_n(&shop::holds, __ATOMIC_ACQUIRE))
    pause_us(100);
  std::thread worker(shop::work);
  worker.join();
  holder.join();
}
