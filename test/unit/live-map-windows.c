// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the map of live blocks keeps every block, also if several threads at
// the same time insert and remove blocks that are neighbours in memory. With
// blocks of 16 to 1024 bytes, the map takes at most 32 bytes for a block.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "heap/livemap.h"
#include "sys/persistent.h"
#include "sys/tls.h"

#include <pthread.h>

enum { THREADS = 4, UNITS = 1 << 14, ROUNDS = 40 };
static pthread_barrier_t all;

// Thread i owns the units i, i + 4, i + 8, ... of memory, so that each window
// has units of all threads.
static void *put_and_take(void *arg) {
  const uintptr_t thread = (uintptr_t)arg;
  mprof_guard_enter();
  for (uintptr_t round = 0; round < ROUNDS; round++) {
    // No window of this memory has been used before.
    const uintptr_t base = 0x10000000 + round * UNITS * 16;
    uint32_t stale, value;
    pthread_barrier_wait(&all);
    for (uintptr_t u = thread; u < UNITS; u += THREADS) {
      value = (uint32_t)(round * UNITS + u + 1);
      CHECK(mprof_live_put(base + 16 * u, value, &stale));
      CHECK_EQ(stale, 0);
    }
    for (uintptr_t u = thread; u < UNITS; u += THREADS) {
      value = (uint32_t)(round * UNITS + u + 1);
      CHECK_EQ(mprof_live_take(base + 16 * u), value);
      CHECK_EQ(mprof_live_take(base + 16 * u), 0);
    }
  }
  mprof_guard_leave();
  return NULL;
}

static void test_race(void) {
  pthread_t threads[THREADS];
  CHECK_EQ(pthread_barrier_init(&all, NULL, THREADS), 0);
  for (uintptr_t i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, put_and_take, (void *)i), 0);
  for (int i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static void test_memory(void) {
  enum { BLOCKS = 1000000 };
  const size_t before = mprof_persistent_used();
  uintptr_t addr = 0x600000000000;
  uint32_t x = 2463534242u, stale; // xorshift
  for (uint32_t i = 1; i <= BLOCKS; i++) {
    CHECK(mprof_live_put(addr, i, &stale));
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    const size_t size = 16 + x % 1009;
    addr += (size + 8 + 15) & ~(size_t)15; // as glibc places blocks
  }
  CHECK(mprof_persistent_used() - before <= (size_t)32 * BLOCKS);
}

int main(void) {
  test_race();
  mprof_guard_enter();
  test_memory();
  mprof_guard_leave();
  return 0;
}
