// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: freed blocks in the caches of malloc keep no free memory. A block in
// use keeps all of it, although freed blocks of the same size lie beside it,
// which malloc marks as in use. mprof memory --holes shows how full the pages
// are.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app
// RUN: %run_quiet{heap_rate=1} ./app now.pb.gz
// RUN: %mprof memory --format=json now.pb.gz > now.json
// RUN: %python -c "import json; m = json.load(open('now.json')); \
// RUN:   free, = [x for x in m['parts'] if x['part'] == '[malloc: free]']; \
// RUN:   kept, = [r['rss'] for r in free['rows'] if r['name'].startswith('keep ')]; \
// RUN:   print(kept, free['rss']); \
// RUN:   assert 0.95 * 1000 * 3000 < kept <= free['rss'], free"
// RUN: %mprof memory now.pb.gz | FileCheck %s
// RUN: %mprof memory --holes now.pb.gz | FileCheck %s --check-prefix=HOLES
// RUN: %run_quiet{} ./app placed.pb.gz
// RUN: not %mprof memory --holes placed.pb.gz 2>&1 | grep 'mprof run --heap-rate=16k -O memory=1 ./app placed.pb.gz '
// RUN: %mprof memory placed.pb.gz > placed.txt && not grep -e --holes placed.txt
// RUN: sed -n 's,^mprof run \(.*\)  # the stacks of these blocks$,run -O seed=1 \1,p' placed.txt > again.txt
// RUN: test $(wc -l < again.txt) = 1 && xargs %mprof < again.txt
// RUN: %mprof memory --holes placed.pb.gz | FileCheck %s --check-prefix=FINER
// RUN: cp now.pb.gz "now it is.pb.gz" && %mprof memory "now it is.pb.gz" | grep '^mprof memory --holes .*now it is.pb.gz.  # the stacks of these blocks$'
//
// FINER: kept share used of each 4,096 function
// FINER-NEXT: keep holes-beside-cached-blocks.c
// CHECK: malloc: free memory between blocks
// CHECK-NEXT: beside blocks of keep holes-beside-cached-blocks.c
// CHECK-NOT: mprof run
// HOLES: kept share used of each 4,096 function
// HOLES-NEXT: 2.{{[789][0-9]*}} MiB {{[0-9.]+}} % {{[78][0-9]}} keep holes-beside-cached-blocks.c:
// HOLES: blocks of these stacks keep 2.{{[0-9]+}} MiB of the {{[23]}}.{{[0-9]+}} MiB

#include <mprof/mprof.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };
static char *volatile kept[N], *volatile cached[N], *volatile large[N];

__attribute__((noinline)) static void keep(int i) { kept[i] = malloc(48); }

int main(int argc, char **argv) {
  for (int i = 0; i < N; i++) {
    large[i] = memset(malloc(3000), 1, 3000);
    cached[i] = malloc(48);
    keep(i);
  }
  for (int i = 0; i < N; i++)
    free(cached[i]);
  for (int i = 0; i < N; i++)
    free(large[i]);
  return argc < 2 || mprof_write_profile("memory", argv[1], 0) != 0;
}
