// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the page of a trace with regions but no tasks begins with the
// overview. Like mprof latency, it shows the slowest outermost regions, what
// their time went to, and who held the lock. The longest waits of the trace say
// for what, where, and who ended them.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof=trace -O1 -g1 %s -o app
// RUN: %run{trace=1:log_path=p:report=0} ./app
// RUN: %build/bin/mprof html p.*.trace -o page.html
// RUN: %python %S/Inputs/browser.py text all page.html#all > all
// RUN: FileCheck %s < all && FileCheck %s --check-prefix=LOCK < all
// CHECK: Overview: Slowest regions2 regions in the trace, which has no tasks.
// CHECK-SAME: outer after
// CHECK-SAME: order after {{.*}}waiting for shop::cache in shop::look, held by main G1 in main
// CHECK-SAME: Timeline
// CHECK-SAME: join in main main G1{{.*}}ended by shop::look G2 in shop::look html-regions.cpp:
// LOCK: lock shop::cache in shop::look shop::look G2 {{.*}}last held by main G1
// LOCK-SAME: in main html-regions.cpp:
// RUN: %python %S/Inputs/browser.py use %S/Inputs/html_begin.js page.html \
// RUN:   | FileCheck %s --check-prefix=FIRST
// FIRST: step: begins with Overview

#include "../Inputs/sync-observe.h"
#include <mprof/mprof.h>
#include <mutex>
#include <thread>

namespace shop {
static std::mutex cache;
static pid_t tid;

__attribute__((noinline)) static void look() {
  mprof_trace_region_begin(0, "order");
  about_to_wait(&tid);
  cache.lock();
  cache.unlock();
  mprof_trace_region_end(0, "order");
  until_main_waits(NULL, 0);
}
} // namespace shop

int main() {
  mprof_trace_region_begin(0, "outer");
  mprof_trace_region_begin(0, "inner");
  shop::cache.lock();
  std::thread t(shop::look);
  until_waits_for(&shop::tid, &shop::cache, sizeof shop::cache);
  shop::cache.unlock();
  t.join();
  mprof_trace_region_end(0, "inner");
  mprof_trace_region_end(0, "outer");
}
