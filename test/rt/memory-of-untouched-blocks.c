// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the resident bytes of blocks in use belong to the stacks whose blocks
// are resident. Large blocks that were never touched have none, whether they
// are mappings or chunks of a heap, and a block whose mapping madvise has split
// is found.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app
// RUN: for rate in 1 524288; do \
// RUN:   %run{report=0:profile=0:heap_rate=$rate} ./app $rate.pb.gz && \
// RUN:   %mprof memory --format=json $rate.pb.gz > $rate.json && \
// RUN:   %python -c "import json, sys; m = json.load(open(sys.argv[1])); \
// RUN:     p = {x['part']: x for x in m['parts']}['[malloc: in use]']; \
// RUN:     rows = {r['name'].split(' ')[0]: r['rss'] / 2**20 for r in p['rows']}; \
// RUN:     print(rows, p['rss'] / 2**20); \
// RUN:     assert 32 <= p['rss'] / 2**20 < 40, rows; \
// RUN:     assert rows.get('untouched', 0) < 1 and rows.get('medium', 0) < 3, rows; \
// RUN:     assert all(15.9 < rows[x] < 16.1 for x in ('split', 'touched')), rows" \
// RUN:   $rate.json || exit 1; done

#include <mprof/mprof.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MEGA = 1 << 20 };
static void *volatile kept;

__attribute__((noinline)) static void untouched(void) {
  kept = malloc(200 * MEGA);
}

__attribute__((noinline)) static void medium(void) {
  for (int i = 0; i < 500; i++)
    kept = malloc(100000);
}

__attribute__((noinline)) static void touched(void) {
  kept = memset(malloc(16 * MEGA), 1, 16 * MEGA);
}

__attribute__((noinline)) static void split(void) {
  char *p = memset(malloc(16 * MEGA), 1, 16 * MEGA);
  const uintptr_t page = ((uintptr_t)p + 4 * MEGA) & ~(uintptr_t)4095;
  madvise((void *)page, 8 * MEGA, MADV_NOHUGEPAGE);
  kept = p;
}

int main(int argc, char **argv) {
  untouched();
  medium();
  touched();
  split();
  return mprof_write_profile("memory", argv[argc - 1], 0);
}
