// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads add values to a profile and remove values at the same time,
// while another thread writes the profile. There are many more values than the
// profile's first table can hold. At the end the profile has each value once.
// The total in a file is the total of a single moment.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{symbolize=0:report=0:log_path=x} ./app
// RUN: %mprof_read --totals x.*.work.pb.gz | FileCheck %s
// RUN: cat while.*.txt | grep -c '^moved profile: total 100[01]$' | grep -x 100
// CHECK: total: work=240000{{$}}

#include <mprof/mprof.h>

#include <pthread.h>
#include <stdio.h>

#include "records.h"

enum { THREADS = 4, EACH = 60000, MOVED = 1000, DEPTHS = 64 };

static struct mprof_profile *work, *moved;
static int taken, ready, has_ended;

static void *add(void *arg) {
  uintptr_t base = (uintptr_t)arg * EACH;
  __atomic_add_fetch(&ready, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&ready, __ATOMIC_RELAXED) != THREADS)
    ;
  for (uintptr_t i = 0; i < EACH; i++) {
    CHECK(mprof_profile_add(work, base + i, 0) == 0);
    // All threads try to add the same value; only one succeeds.
    if (mprof_profile_add(work, ~i, 0) == 0)
      __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
    if (i % 2 == 1) // moves it back again
      CHECK(mprof_profile_remove(work, base + i) == 0 &&
            mprof_profile_add(work, base + i, 0) == 0);
  }
  return NULL;
}

// Adds the value at a stack that is different for each depth.
__attribute__((noinline)) static void add_at(unsigned depth, uintptr_t value) {
  if (depth > 0)
    add_at(depth - 1, value);
  else
    CHECK(mprof_profile_add(moved, value, 0) == 0);
  __asm__ volatile("");
}

// Each value is added at another stack before it is removed from its old one.
// At any moment there are as many values as at the beginning, or one more.
static void *move(void *arg) {
  for (uintptr_t i = 0; !__atomic_load_n(&has_ended, __ATOMIC_RELAXED); i++) {
    add_at((unsigned)(i * 37 % DEPTHS), i + MOVED);
    CHECK(mprof_profile_remove(moved, i) == 0);
  }
  return arg;
}

int main(void) {
  pthread_t t[THREADS], mover;
  CHECK(mprof_profile_new("work", &work) == 0);
  CHECK(mprof_profile_new("moved", &moved) == 0);
  for (uintptr_t i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, add, (void *)i);
  for (int n = 0; n < 5; n++)
    CHECK(mprof_profile_write(work, "ignored.pb.gz", 0) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  CHECK(taken == EACH);
  for (uintptr_t i = 0; i < EACH; i++)
    CHECK(mprof_profile_remove(work, ~i) == 0);
  CHECK(mprof_profile_count(work) == THREADS * EACH);

  for (uintptr_t i = 0; i < MOVED; i++)
    add_at((unsigned)(i * 37 % DEPTHS), i);
  pthread_create(&mover, NULL, move, NULL);
  for (int i = 0; i < 100; i++) {
    char name[32];
    snprintf(name, sizeof(name), "while.%d.txt", i);
    CHECK(mprof_profile_write(moved, name, 1) == 0);
  }
  has_ended = 1;
  pthread_join(mover, NULL);
  return 0;
}
