// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the timeline of mprof html groups many threads whose names differ by
// a number, and a group opens. Its sums are those of its threads. A wait for a
// lock has the chain of waits that explains it, through which the key g goes,
// and back the key G. Without a selection, the timeline adds up the whole
// trace.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof=trace -O1 -g1 %s -o app
// RUN: %run{trace=1:log_path=p:report=0} ./app
// RUN: %build/bin/mprof html p.*.trace -o page.html
// RUN: %python -B %S/Inputs/browser.py use %S/Inputs/html_groups.js page.html | FileCheck %s
// CHECK: step: folded: main G1, ▸ 30 threads: worker, first G{{[0-9]+}}, last G{{[0-9]+}}
// CHECK: step: open: 34 rows
// CHECK: step: sums are equal: true
// CHECK: step: whole: {{.*}} all threads {{.*}} waited waits where {{.*}} waiting (sync) for outer: last
// CHECK: step: chain: last: waiting (sync) < first: running < first: waiting (sync) < main: {{(running|in a system call)}}
// CHECK: step: g: first G{{.*}}: running
// CHECK: step: g: first G{{.*}}: waiting (sync)
// CHECK: step: g: main G1
// CHECK: step: G: first G{{.*}}: waiting (sync)

#include "../Inputs/sync-observe.h"
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex inner, outer;
static pid_t first_tid, last_tid;

static void first() {
  pthread_setname_np(pthread_self(), "first");
  outer.lock();
  about_to_wait(&first_tid);
  inner.lock();
  inner.unlock();
  outer.unlock();
}

static void last() {
  pthread_setname_np(pthread_self(), "last");
  about_to_wait(&last_tid);
  outer.lock();
  outer.unlock();
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 30; i++)
    threads.emplace_back([i] {
      pthread_setname_np(pthread_self(),
                         ("worker-" + std::to_string(i)).c_str());
    });
  for (std::thread &t : threads)
    t.join();
  inner.lock();
  std::thread a(first);
  until_waits_for(&first_tid, &inner, sizeof inner);
  std::thread b(last);
  until_waits_for(&last_tid, &outer, sizeof outer);
  inner.unlock();
  a.join();
  b.join();
}
