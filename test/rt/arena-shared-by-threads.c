// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads allocate from one arena, free its blocks one by one, and
// reset it at the same time. Each block is counted and freed once.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -lpthread -o %t
// RUN: %run_quiet{heap_rate=1} %t

#include "records.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 3000, BLOCKS = 24, STEP = 24 };
static int arena, is_done;
static char memory[THREADS][BLOCKS * STEP]; // aligned and odd addresses

static void *allocate(void *arg) {
  char *own = arg;
  for (int r = 0; r < ROUNDS; r++) {
    for (int i = 0; i < BLOCKS; i++)
      mprof_arena_alloc_event(&arena, own + i * STEP, 55);
    for (int i = r % 2; i < BLOCKS; i += 2)
      mprof_free_event(own + i * STEP);
    // The next round uses the addresses of the remaining blocks again, unless a
    // reset comes first.
  }
  return NULL;
}

static void *reset(void *arg) {
  while (!__atomic_load_n(&is_done, __ATOMIC_RELAXED))
    mprof_arena_reset(&arena);
  return arg;
}

int main(void) {
  pthread_t threads[THREADS], resetter;
  pthread_create(&resetter, NULL, reset, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, allocate, memory[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  __atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
  pthread_join(resetter, NULL);
  mprof_arena_reset(&arena);
  EXPECT(55, 1, (unsigned long long)THREADS * ROUNDS * BLOCKS,
         (unsigned long long)THREADS * ROUNDS * BLOCKS);
  return 0;
}
