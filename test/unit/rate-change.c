// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a new heap rate takes effect at the next allocation of the calling
// thread. It also takes effect in other threads, even if their countdown to the
// next sample is long. Rate 0 turns counting off. Each sample keeps the rate at
// which it was chosen.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -lpthread -o %t && %t

#define TEST_OPTIONS "heap_rate=100m"
#include "core.h"

#include "heap/event.h"
#include "mprof/mprof.h"
#include "sys/abi_words.h"

#include <pthread.h>

void __mprof_free(void *ptr);

static bool hit(size_t size, uint64_t want_rate) {
  uint64_t rate = 0;
  bool is_hit = site_asks(size) && mprof_sample_hit(size, &rate);
  if (is_hit)
    CHECK_EQ(rate, want_rate);
  return is_hit;
}

static pthread_barrier_t turn;

static void *other(void *arg) {
  (void)arg;
  hit(1, 100 << 20);
  CHECK(__mprof_heap_countdown > 0);
  pthread_barrier_wait(&turn); // counting down at 100 MiB
  pthread_barrier_wait(&turn); // the rate is 1 now
  CHECK(hit(1, 1));
  CHECK(hit(0, 1));
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn); // the rate is 0 now
  for (int i = 0; i < 1000; i++)
    CHECK(!hit(1 << 20, 0));
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_barrier_init(&turn, NULL, 2);
  pthread_create(&t, NULL, other, NULL);
  pthread_barrier_wait(&turn);
  hit(1, 100 << 20);
  CHECK_EQ(mprof_set_heap_rate(1), 100 << 20);
  CHECK_EQ(__mprof_free_mask, 0); // each free must call: all blocks count
  CHECK_EQ(__mprof_free_off_page, (void *)__mprof_free);
  CHECK(hit(1, 1));
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn);
  CHECK_EQ(mprof_set_heap_rate(0), 1);
  pthread_barrier_wait(&turn);
  CHECK(!hit(1 << 30, 0));
  pthread_join(t, NULL);
  CHECK_EQ(mprof_set_heap_rate(1ull << 40), 0);
  CHECK_EQ(mprof_set_heap_rate(1), MPROF_MAX_RATE); // the maximum, as in Go
  return 0;
}
