// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: blocks that mprof_arena_alloc_event reports are counted with their
// sizes, at the function that reports them. A single block is freed by
// mprof_free_event. All other blocks of an arena, but no blocks of other
// arenas, are freed by mprof_arena_reset. The first block of an arena begins at
// the address of a malloc'ed block, and both blocks are counted. Several
// threads use arenas at the same time.
//
// RUN: %mprof_clang -fmprof -O0 -Wall -Wextra -Werror -pedantic -std=c11 \
// RUN:   -I%src/test/Inputs %s -lpthread -o %t
// RUN: %run_quiet{heap_rate=1} %t 1
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -lpthread -o %t
// RUN: %run_quiet{heap_rate=1} %t 1
// RUN: %run_quiet{seed=5} %t 0

#include "records.h"

#include <pthread.h>
#include <string.h>

enum { CHUNK = 70001, BLOCKS = 20, ROUNDS = 500, THREADS = 4 };

struct arena {
  char *chunk;
  size_t used;
};

__attribute__((noinline)) static void *get(struct arena *a, size_t size) {
  void *p = a->chunk + a->used;
  a->used += size;
  mprof_arena_alloc_event(a, p, size);
  return p;
}

__attribute__((noinline)) static void open_arena(struct arena *a) {
  a->chunk = malloc(CHUNK);
  a->used = 0;
}

static void reset(struct arena *a) {
  mprof_arena_reset(a);
  a->used = 0;
}

static void close_arena(struct arena *a) {
  mprof_arena_reset(a);
  free(a->chunk);
}

// Allocates aligned and odd blocks, at the start of the chunk and inside it.
static void fill(struct arena *a) {
  for (int i = 0; i < BLOCKS; i++)
    get(a, i % 2 ? 3331 : 64);
}

static void *work(void *kept) {
  struct arena a;
  open_arena(&a);
  for (int i = 0; i < ROUNDS; i++) {
    fill(&a);
    char *p = get(&a, 257);
    mprof_free_event(p);
    mprof_free_event(p);
    mprof_free_event(p + 1);
    mprof_free_event(NULL);
    reset(&a);
  }
  fill(&a);
  fill(kept);
  close_arena(&a);
  return kept;
}

int main(int argc, char **argv) {
  int is_exact = argc > 1 && argv[1][0] == '1';
  struct arena kept[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    open_arena(&kept[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, &kept[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);

  struct counted small = counted_of(64), large = counted_of(3331);
  struct counted single = counted_of(257);
  CHECK(large.allocs > 0 && large.frees <= large.allocs);
  if (is_exact) {
    // Each size has n blocks per round, n after the rounds, and n in the kept
    // arenas.
    const unsigned n = THREADS * BLOCKS / 2;
    CHECK(small.allocs == n * (ROUNDS + 2) && small.frees == n * (ROUNDS + 1));
    CHECK(large.allocs == n * (ROUNDS + 2) && large.frees == n * (ROUNDS + 1));
    EXPECT(257, 1, THREADS * ROUNDS, THREADS * ROUNDS);
    struct counted chunks = counted_of(CHUNK);
    CHECK(chunks.allocs == 2 * THREADS && chunks.frees == THREADS);
  }
  // Frees a block of an arena, and a block of no arena, before any reset.
  char *p = get(&kept[0], 259);
  mprof_free_event(p);
  mprof_alloc_event(p, 261);
  mprof_free_event(p);
  CHECK(counted_of(259).allocs == counted_of(259).frees);
  if (is_exact) {
    EXPECT(259, 1, 1, 1);
    EXPECT(261, 1, 1, 1);
  }
  mprof_arena_reset(NULL);
  mprof_arena_reset(&small);
  for (int i = 0; i < THREADS; i++)
    close_arena(&kept[i]);
  small = counted_of(64), large = counted_of(3331), single = counted_of(257);
  CHECK(small.frees == small.allocs && large.frees == large.allocs);
  CHECK(single.frees == single.allocs);
  struct counted chunks = counted_of(CHUNK);
  CHECK(chunks.frees == chunks.allocs);
  return 0;
}
