// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory profile charges free memory of malloc to the stacks whose
// blocks lie in the same pages. Over 200 random heaps, the mean of the sampled
// estimates is within 5 % of the truth for each stack, also for two stacks
// whose blocks have the same size: one packs them, the other one scatters them.
// The parts still add up to the total. The caches of malloc are off, because a
// block in a cache counts as in use.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app
// RUN: %run_quiet{heap_rate=512:seed=7} \
// RUN:   GLIBC_TUNABLES=glibc.malloc.tcache_count=0 ./app > truth
// RUN: %mprof memory --format=json *.pb.gz > shown.json
// RUN: %python -c "import json; m = json.load(open('shown.json')); \
// RUN:   p = {x['part']: x for x in m['parts']}; \
// RUN:   rows = {r['name'].split(' ')[0]: r for r in p['[malloc: free]']['rows']}; \
// RUN:   truth = {n: (int(k), int(u)) for n, k, u in map(str.split, open('truth'))}; \
// RUN:   off = {n: (rows[n]['rss'] / k, rows[n]['used_beside'] / u) for n, (k, u) in truth.items()}; \
// RUN:   print(off); \
// RUN:   assert len(off) == 5 and all(abs(x - 1) < 0.05 for v in off.values() for x in v), off; \
// RUN:   assert rows['keep_scattered']['rss'] > 5 * rows['keep_packed']['rss'], rows; \
// RUN:   assert sum(x['rss'] for x in p.values()) == m['rss']; \
// RUN:   assert sum(r['rss'] for r in rows.values()) == p['[malloc: free]']['rss']"

#include <inttypes.h>
#include <malloc.h>
#include <mprof/mprof.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200, STEPS = 1000, PACK = 24, PAGE = 4096, PAGES = 8192 };
enum stack { SMALL, MEDIUM, LARGE, PACKED, SCATTERED, STACKS };
static const char *const names[STACKS] = {
    "keep_small", "keep_medium", "keep_large", "keep_packed", "keep_scattered"};
static struct block {
  char *p;
  enum stack stack;
} blocks[PACK * STEPS];
static int blocks_len;
static char *freed[STEPS];

static uint64_t state;
static unsigned below(unsigned limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % limit;
}

#define KEEP(Name, Stack, Size)                                                \
  __attribute__((noinline)) static void Name(void) {                           \
    const size_t size = Size;                                                  \
    char *p = memset(malloc(size), 1, size);                                   \
    blocks[blocks_len++] = (struct block){p, Stack};                           \
  }
KEEP(keep_small, SMALL, 24 + 16 * below(5))
KEEP(keep_medium, MEDIUM, 200 + 100 * below(6))
KEEP(keep_large, LARGE, 900 + 500 * below(14))
KEEP(keep_packed, PACKED, 64)
KEEP(keep_scattered, SCATTERED, 64)

// Allocates blocks of all stacks among other blocks, which it then frees.
static void make_heap(void) {
  blocks_len = 0;
  for (int i = 0; i < STEPS; i++) {
    const size_t size = 1100 + 500 * below(16);
    freed[i] = memset(malloc(size), 1, size);
    switch (below(8)) {
    case 0:
    case 1:
      keep_small();
      break;
    case 2:
      keep_medium();
      break;
    case 3:
      keep_large();
      break;
    case 4:
    case 5:
      keep_scattered();
      break;
    default:
      break;
    }
    if (i % 100 == 0)
      for (int k = 0; k < PACK; k++)
        keep_packed();
  }
  keep_large(); // the end of the heap is no hole
  for (int i = 0; i < STEPS; i++)
    free(freed[i]);
}

static int by_address(const void *a, const void *b) {
  const struct block *x = a, *y = b;
  return x->p < y->p ? -1 : x->p > y->p;
}

static double kept[STACKS], used[STACKS];

// Adds the truth about the heap to kept and used. Before a block lie 16 bytes,
// of which the last 8 are its own, like the first 8 before the next block.
static void measure(void) {
  static uint32_t page_used[PAGES];
  memset(page_used, 0, sizeof page_used);
  qsort(blocks, (size_t)blocks_len, sizeof blocks[0], by_address);
  const uintptr_t first = (uintptr_t)(blocks[0].p - 16) / PAGE * PAGE;
  for (int is_charging = 0; is_charging < 2; is_charging++)
    for (int i = 0; i < blocks_len; i++) {
      const struct block *b = &blocks[i];
      const uintptr_t end = (uintptr_t)b->p - 8 + malloc_usable_size(b->p);
      for (uintptr_t at = (uintptr_t)b->p - 16, next; at < end; at = next) {
        uint32_t *u = &page_used[(at - first) / PAGE];
        next = at / PAGE * PAGE + PAGE;
        next = next < end ? next : end;
        const double bytes = (double)(next - at);
        if (!is_charging) {
          *u += (uint32_t)bytes;
        } else if (*u < PAGE) {
          kept[b->stack] += (PAGE - *u) * bytes / *u;
          used[b->stack] += bytes;
        }
      }
    }
}

int main(void) {
  mallopt(M_MXFAST, 0);
  for (int round = 0; round < ROUNDS; round++) {
    char path[32];
    state = (uint64_t)round;
    make_heap();
    snprintf(path, sizeof path, "%d.pb.gz", round);
    if (mprof_write_profile("memory", path, 0) != 0)
      return 1;
    measure();
    for (int i = 0; i < blocks_len; i++)
      free(blocks[i].p);
  }
  for (int i = 0; i < STACKS; i++)
    printf("%s %.0f %.0f\n", names[i], kept[i], used[i]);
  return 0;
}
