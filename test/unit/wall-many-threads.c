// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each round of the wall profile has each of 2,000 waiting threads
// once. Threads that waited in the round before are not unwound again, also
// when other threads have begun and ended since.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t -Wl,--wrap=mprof_unwind_wait
// RUN: %t

#include "wall_rounds.h"

#include "lock_wait/hooked.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { THREADS = 2000, LATER = 50, ROUNDS = 5 };

static atomic_int waiting;
static int ends[2][2]; // pipes whose end ends the first and the later threads

static void *wait_for_end(void *which) {
  struct mprof_wait w;
  char c;
  mprof_wait_begin(&w, MPROF_KIND_sem, (uintptr_t)wait_for_end,
                   (uintptr_t)__builtin_frame_address(0), 0);
  atomic_fetch_add(&waiting, 1);
  CHECK_EQ(read(ends[which != NULL][0], &c, 1), 0);
  mprof_wait_end(&w, MPROF_TIMEOUT);
  return NULL;
}

static void start(pthread_t *t, int n, void *which) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  const int before = atomic_load(&waiting);
  for (int i = 0; i < n; i++)
    CHECK_EQ(pthread_create(&t[i], &small, wait_for_end, which), 0);
  while (atomic_load(&waiting) < before + n)
    sched_yield();
}

static uint64_t samples(void) {
  uint64_t n = 0;
  for (const struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_WALL); b;
       b = b->allnext)
    if (b->kind == MPROF_KIND_sem)
      n += atomic_load(&b->wait.count) / MPROF_COUNT_ONE;
  return n;
}

int main(void) {
  static pthread_t t[THREADS], later[LATER];
  wall_note_waits();
  CHECK(pipe(ends[0]) == 0 && pipe(ends[1]) == 0);
  start(t, THREADS, NULL);
  for (int i = 0; i < ROUNDS; i++)
    wall_round();
  CHECK_EQ(samples(), THREADS * ROUNDS);
  CHECK_EQ(unwound, THREADS);

  start(later, LATER, &ends);
  wall_round();
  close(ends[1][1]);
  for (int i = 0; i < LATER; i++)
    pthread_join(later[i], NULL);
  wall_round();
  CHECK_EQ(samples(), THREADS * (ROUNDS + 2) + LATER);
  CHECK_EQ(unwound, THREADS + LATER);
  close(ends[0][1]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  return 0;
}
