// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof memory --over-time shows several memory profiles as a chart, in
// the order of their times, and says which part has grown most. In UTF-8, each
// part has a sparkline. mprof leaks shows the stacks of the growth between two
// of them. A profile of another kind, and a single profile, are refused.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app
// RUN: %run{heap_rate=1:report=0:log_path=app} ./app
// RUN: %mprof memory --over-time 1.memory.pb.gz 0.memory.pb.gz 2.memory.pb.gz > chart
// RUN: FileCheck %s < chart
// RUN: %mprof memory --over-time --format=json . | %python -c "import json, sys; \
// RUN:   t = json.load(sys.stdin); rss = [x['rss'] for x in t]; \
// RUN:   assert len(t) == 3 and rss == sorted(rss), rss; \
// RUN:   assert all(sum(x['parts'].values()) == x['rss'] for x in t), t; \
// RUN:   used = [x['parts']['[malloc: in use]'] >> 20 for x in t]; \
// RUN:   assert used == [10, 20, 30], used"
// RUN: env LC_ALL=C.UTF-8 %mprof memory --over-time . \
// RUN:   | FileCheck %s --check-prefix=LINE
// RUN: not %mprof leaks 0.memory.pb.gz 2.memory.pb.gz | FileCheck %s --check-prefix=LEAKS
// RUN: not %mprof memory --over-time 0.memory.pb.gz 2>&1 | grep 'at least two'
// RUN: not %mprof memory --over-time app.*.heap.pb.gz 2>&1 | grep 'no memory profile'
//
// CHECK: rss of ./app
// CHECK: {{[0-9]+}} MiB {{a+b*.*$}}
// CHECK-NEXT: {{[0-9]+}} MiB {{a+b*.*$}}
// CHECK-NEXT: {{[0-9]+}} MiB {{a+b*.*$}}
// CHECK: first last highest growth part
// CHECK-NEXT: a 10.{{[0-9]+}} MiB 30.{{[0-9]+}} MiB 30.{{[0-9]+}} MiB +20.{{[0-9]+}} MiB malloc: blocks in use
// CHECK: grown most: malloc: blocks in use, by 20.
// LINE: growth over time part
// LINE-NEXT: +20.{{[0-9]+}} MiB {{▃|▄}}{{▅|▆}}█ malloc: blocks in use
// LEAKS: grew by +20.0 MiB: 10.0 MiB -> 30.0 MiB
// LEAKS-NEXT: grow memory-over-time.c:
// LEAKS-NEXT: main memory-over-time.c:
// LEAKS-NEXT: [malloc: in use]

#include <mprof/mprof.h>
#include <stdlib.h>
#include <string.h>

enum { N = 512, BYTES = 20480 };
static char *blocks[N];

__attribute__((noinline)) static void grow(void) {
  for (int i = 0; i < N; i++)
    blocks[i] = memset(malloc(BYTES), 1, BYTES);
}

int main(void) {
  char path[] = "0.memory.pb.gz";
  for (int i = 0; i < 3; i++, path[0]++) {
    grow();
    if (mprof_write_profile("memory", path, 0) != 0)
      return 1;
  }
  return 0;
}
