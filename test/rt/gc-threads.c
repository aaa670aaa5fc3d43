// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads allocate, free and resize objects of libgc, which causes
// collections, while another thread reads and writes profiles. No thread hangs,
// and no object is lost or counted twice. This holds in exact and in sampled
// mode, with and without incremental collection. In the end, only the objects
// that the threads keep are in use.
//
// REQUIRES: libgc
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app -lgc
// RUN: %run_quiet{heap_rate=1} timeout 600 ./app exact
// RUN: %run_quiet{heap_rate=1} timeout 600 ./app exact incremental
// RUN: %run_quiet{heap_rate=65536:seed=7} timeout 600 ./app sampled
// RUN: %run_quiet{heap_rate=65536:seed=8} timeout 600 ./app sampled incremental

#define GC_THREADS
#include "gc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 15000, KEPT = 50, SIZE = 96, BIG = 3000 };
static void **kept[THREADS];
static atomic_bool done;

static void *work(void *arg) {
  void **mine = arg;
  for (int i = 0; i < ROUNDS; i++) {
    void *volatile p = GC_MALLOC(SIZE);
    if (i % 3 == 1)
      GC_FREE(p);
    else if (i % 3 == 2)
      p = GC_REALLOC(p, BIG);
    else if (i % 300 == 0)
      mine[i / 300] = p;
  }
  return NULL;
}

static void *watch(void *arg) {
  static struct mprof_mem_record r[256];
  size_t n;
  while (!atomic_load(&done)) {
    int error = mprof_mem_profile(r, 256, 1, &n);
    CHECK(error == 0);
    CHECK(mprof_write_profile("heap", "during", 0) == 0);
    usleep(1000);
  }
  return arg;
}

struct use {
  long long size, allocs, in_use;
};
static void add(const struct mprof_mem_bucket *b, void *arg) {
  struct use *u = arg;
  CHECK(b->frees <= b->allocs);
  if ((long long)b->size == u->size) {
    u->allocs += (long long)b->allocs;
    u->in_use += (long long)(b->allocs - b->frees);
  }
}

int main(int argc, char **argv) {
  pthread_t t[THREADS], watcher;
  int is_exact = strcmp(argv[1], "exact") == 0;
  GC_INIT();
  if (argc > 2)
    GC_enable_incremental();
  CHECK(pthread_create(&watcher, NULL, watch, NULL) == 0);
  for (int i = 0; i < THREADS; i++) {
    kept[i] = GC_MALLOC_UNCOLLECTABLE(KEPT * sizeof(void *));
    CHECK(pthread_create(&t[i], NULL, work, kept[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  atomic_store(&done, true);
  pthread_join(watcher, NULL);
  clear_stack();
  GC_gcollect(), GC_gcollect();

  struct use small = {.size = SIZE}, big = {.size = BIG};
  mprof_iterate_mem(add, &small);
  mprof_iterate_mem(add, &big);
  fprintf(stderr, "%lld of %lld, %lld of %lld\n", small.in_use, small.allocs,
          big.in_use, big.allocs);
  if (is_exact) {
    CHECK(small.allocs == THREADS * ROUNDS);
    CHECK(big.allocs == THREADS * ROUNDS / 3);
    // Words on the stacks of threads that have ended may keep a few objects.
    CHECK(small.in_use >= THREADS * KEPT);
    CHECK(small.in_use <= THREADS * KEPT + 8);
  } else {
    // One sample per 65536 bytes, of 6 MB and of 60 MB.
    CHECK(small.allocs > 20 && big.allocs > 400);
    CHECK(small.in_use <= THREADS * KEPT);
  }
  CHECK(big.in_use <= 8);
  return 0;
}
