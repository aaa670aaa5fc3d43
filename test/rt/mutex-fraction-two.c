// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with mutex_fraction=2 about half of the contended unlocks are
// sampled, and each sample counts twice. A later change of the fraction or of
// the block rate does not change the values that were recorded before.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{mutex_fraction=2:seed=1} %t

#include "waited.h"

enum { CONTENTIONS = 100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t round_begins;

static void wait_often(void *arg) {
  (void)arg;
  for (int i = 0; i < CONTENTIONS; i++) {
    pthread_barrier_wait(&round_begins);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_barrier_wait(&round_begins);
  }
}

OWN_CODE(holder) static void release(void) { pthread_mutex_unlock(&mutex); }
DECLARE_CODE(holder);

static struct waited taken(void) {
  const struct code c = CODE(holder);
  return waited_in(mprof_mutex_profile, &c, SECOND);
}

static void check_same(struct waited before) {
  struct waited w = taken();
  NEED(w.records == before.records && w.count == before.count &&
       w.seconds > before.seconds * 0.99 && w.seconds < before.seconds * 1.01);
}

int main(void) {
  struct thread t;
  NEED(mprof_set_mutex_fraction(-1) == 2);
  NEED(pthread_barrier_init(&round_begins, NULL, 2) == 0);
  double first = now();
  start(&t, wait_often, NULL);
  for (int i = 0; i < CONTENTIONS; i++) {
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&round_begins);
    until_waited_for(&mutex);
    release();
    pthread_barrier_wait(&round_begins);
  }
  finish(&t);
  double total = now() - first;

  // 50 samples are expected, with a standard deviation of 5.
  struct waited w = taken();
  NEED(w.records == 1);
  NEED(w.count % 2 == 0);
  NEED(w.count >= 2 * 20 && w.count <= 2 * 80);
  NEED(w.seconds > 0 && w.seconds <= 2 * total);
  NEED(mprof_set_mutex_fraction(0) == 2);
  check_same(w);
  NEED(mprof_set_mutex_fraction(7) == 0);
  check_same(w);
  NEED(mprof_set_mutex_fraction(-5) == 7);
  NEED(mprof_set_block_rate(5) == 0);
  check_same(w);
  return 0;
}
