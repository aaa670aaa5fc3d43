// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the file that a program writes at exit says so, and the page of
// --series leaves it out: the growth of a cache that a destructor frees at exit
// is that of the snapshots. The page begins with this view and the newest
// snapshot.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g1 -fno-inline %s -o app
// RUN: %run{heap_rate=1:log_path=z:report=0} ./app
// RUN: mv z.*.heap.pb.gz z.heap.pb.gz
// RUN: %mprof info z.heap.pb.gz | grep 'written: at exit'
// RUN: %mprof info 1.pb.gz | not grep 'written: at exit'
// RUN: %mprof html --series 1.pb.gz 2.pb.gz z.heap.pb.gz -o page.html
// RUN: %python %S/Inputs/browser.py text all page.html#all | FileCheck %s
// CHECK: Over time: {{.*}}without z.heap.pb.gz: written at exit
// CHECK-SAME: 1000 KiB3.91 MiB3.91 MiB+2.93 MiBadd
// RUN: %python %S/Inputs/browser.py use %S/Inputs/html_first_view.js page.html \
// RUN:   | FileCheck %s --check-prefix=FIRST
// FIRST: step: Over time of heap: 2.pb.gz

#include <cstdlib>
#include <mprof/mprof.h>
#include <vector>

struct Cache {
  std::vector<void *> blocks;
  ~Cache() {
    for (void *block : blocks)
      free(block);
  }
};
static Cache cache;

static void add(int blocks) {
  for (int i = 0; i < blocks; i++)
    cache.blocks.push_back(malloc(10240));
}

int main() {
  cache.blocks.reserve(1000);
  add(100);
  if (mprof_write_profile("heap", "1.pb.gz", 0) != 0)
    return 1;
  add(300);
  return mprof_write_profile("heap", "2.pb.gz", 0);
}
