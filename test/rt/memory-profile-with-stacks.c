// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory profile that a process writes shows the blocks in use
// below the stacks that have allocated them, and mapped memory below the stacks
// that have mapped it. The free memory and MProf's own memory are other parts,
// and all parts add up to what the kernel counts.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app
// RUN: %run{heap_rate=1:log_path=app} ./app > rss
// RUN: %mprof memory --format=json now.pb.gz > now.json
// RUN: %python -c "import json; m = json.load(open('now.json')); \
// RUN:   p = {x['part']: x for x in m['parts']}; \
// RUN:   rows = {r['name'].split(' ')[0]: r['rss'] for r in p['[malloc: in use]']['rows']}; \
// RUN:   print(rows); \
// RUN:   assert rows['keep'] == 20000 * 200, rows; \
// RUN:   assert abs(p['[malloc: free]']['rss'] - 20000 * 208) < 10000, p; \
// RUN:   mapped = p['[mapped memory]']; \
// RUN:   assert mapped['rows'][0]['name'].split(' ')[0] == 'pool', mapped; \
// RUN:   assert abs(mapped['rss'] - (8 << 20)) < 400000, mapped; \
// RUN:   assert p['[anonymous memory]']['rss'] < 200000, p; \
// RUN:   assert p['[MProf]']['rss'] > 100000, p; \
// RUN:   assert sum(x['rss'] for x in p.values()) == m['rss']; \
// RUN:   assert abs(m['rss'] - int(open('rss').read())) < 2000000, m['rss']"
// RUN: grep -q '^[0-9]* [0-9]* [0-9]* 0 .malloc: free.: main arena$' now.txt
// RUN: %go tool pprof -raw now.pb.gz > raw && grep -q 'malloc: in use' raw

#include <mprof/mprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N = 20000 };
static char *kept[N], *freed[N];

__attribute__((noinline)) static void keep(int i) {
  kept[i] = memset(malloc(200), 1, 200);
}

__attribute__((noinline)) static void make_hole(int i) {
  freed[i] = memset(malloc(200), 1, 200);
}

__attribute__((noinline)) static char *pool(size_t bytes) {
  char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memset(p, 1, bytes);
}

int main(void) {
  char line[256];
  long rss = 0;
  for (int i = 0; i < N; i++) {
    keep(i);
    make_hole(i);
  }
  for (int i = 0; i < N; i++)
    free(freed[i]);
  pool(8 << 20);
  if (mprof_write_profile("memory", "now.pb.gz", 0) != 0 ||
      mprof_write_profile("memory", "now.txt", 1) != 0)
    return 1;
  FILE *f = fopen("/proc/self/smaps_rollup", "r");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "Rss: %ld", &rss) == 1)
      printf("%ld\n", rss * 1024);
  return 0;
}
