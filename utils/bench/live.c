// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of many live blocks of MIN to MAX bytes: the time to allocate and to
// free a block, and the resident memory while all are live. The blocks are
// freed in random order. Prints
//   rss_kib N     resident memory with all blocks live
//   alloc_ns X    time of one allocation, mean of all
//   free_ns X     time of one free, mean of all
//
// usage: live BLOCKS MIN MAX

#include "bench.h"

#include <string.h>

static unsigned next_random(void) { // xorshift; equal numbers in each run
  static unsigned x = 2463534242u;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return x;
}

static void shuffle(void **blocks, size_t n) {
  for (size_t i = n - 1; i > 0; i--) {
    size_t k = next_random() % (i + 1);
    void *p = blocks[i];
    blocks[i] = blocks[k];
    blocks[k] = p;
  }
}

static long resident_kib(void) {
  char line[256];
  long kib = -1;
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof(line), f) != NULL)
    if (strncmp(line, "VmRSS:", 6) == 0)
      kib = strtol(line + 6, NULL, 10);
  if (f != NULL)
    fclose(f);
  return kib;
}

int main(int argc, char **argv) {
  size_t n = (size_t)bench_arg(argc, argv, 1);
  size_t min = (size_t)bench_arg(argc, argv, 2);
  size_t max = (size_t)bench_arg(argc, argv, 3);
  void **blocks = calloc(n, sizeof(*blocks));
  if (argc != 4 || n == 0 || max < min || blocks == NULL)
    return 2;
  memset(blocks, 1, n * sizeof(*blocks)); // page faults are not timed below

  long long begin = bench_now();
  for (size_t i = 0; i < n; i++) {
    char *p = malloc(min + next_random() % (max - min + 1));
    *p = 1;
    blocks[i] = p;
  }
  double alloc_ns = (double)(bench_now() - begin) / (double)n;
  printf("rss_kib %ld\n", resident_kib());

  shuffle(blocks, n);
  begin = bench_now();
  for (size_t i = 0; i < n; i++)
    free(blocks[i]);
  printf("alloc_ns %.3f\nfree_ns %.3f\n", alloc_ns,
         (double)(bench_now() - begin) / (double)n);
  free(blocks);
  return 0;
}
