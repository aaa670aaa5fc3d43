// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the timeline of mprof html has rows for tasks, regions and messages.
// It names the lock for which a thread waits, the thread that held it, and the
// frames of the program; the key g goes to that thread, and a range of time has
// sums. A click on one of the slowest tasks selects its range, and one on a
// span, too.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 %s -o app
// RUN: %run{trace=1:block_rate=1:log_path=p:report=0} ./app
// RUN: %build/bin/mprof html p.*.trace p.*.block.pb.gz -o page.html
// RUN: %python %S/Inputs/browser.py text all page.html#all | FileCheck %s --check-prefix=CARD
// CARD: Overview: {{.*}}Slowest tasks1 task in the trace.{{.*}}request after
// RUN: %python %S/Inputs/browser.py use %S/Inputs/html_timeline.js page.html | FileCheck %s
// CHECK: step: row: task 0 of all: request+
// CHECK: step: row: region 0 of main: parse+
// CHECK: step: row: region 1 of main: read+
// CHECK: step: row: message 0 of main: url: /index
// CHECK: step: wait: {{.*}}waiting (sync) {{.*}} for shop::cache held and released by main G1{{.*}} at main html-timeline.cpp:{{[0-9]+}} (g goes there) shop::look html-timeline.cpp:{{[0-9]+}}
// CHECK: step: with library frames: {{.*}}std::mutex::lock
// CHECK: step: who ended it: main G1
// CHECK: step: range: {{.*}} from 0.000000 s running waiting runnable in a call thread {{.*}} all threads
// CHECK: step: matches: {{[1-9][0-9]*}} {{states? match(es)?, .*}}s; n and N go through them
// CHECK: step: found: shop::look G2{{.*}} shop::look html-timeline.cpp
// CHECK: step: task: {{.*}} from 0.{{[0-9]+}} s running waiting runnable in a call thread {{.*}} all threads {{.*}} waited waits where {{.*}}waiting (sync) for shop::cache: shop::look
// CHECK: step: range of the task: request
// CHECK: step: clicked span: request
// CHECK: step: sums of the clicked span: {{.*}} all threads
// CHECK: step: range after the end: Click a state

#include "../Inputs/sync-observe.h"
#include <mprof/mprof.h>
#include <mutex>
#include <thread>

namespace shop {
static std::mutex cache;
static pid_t tid;

__attribute__((noinline)) static void look() {
  about_to_wait(&tid);
  cache.lock();
  cache.unlock();
}
} // namespace shop

int main() {
  uint64_t task = mprof_trace_task_begin(0, "request");
  mprof_trace_region_begin(task, "parse");
  mprof_trace_region_begin(task, "read");
  mprof_trace_log(task, "url", "/index");
  shop::cache.lock();
  std::thread t(shop::look);
  until_waits_for(&shop::tid, &shop::cache, sizeof shop::cache);
  mprof_trace_region_end(task, "read");
  mprof_trace_region_end(task, "parse");
  shop::cache.unlock();
  t.join();
  mprof_trace_task_end(task);
}
