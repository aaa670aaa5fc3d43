// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads that create equal sets of labels at the same time all get the
// same complete set.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "mprof/mprof.h"
#include "thread/labels.h"

#include <pthread.h>

enum { THREADS = 4, SETS = 2000 };

static pthread_barrier_t barrier;

static void *make(void *arg) {
  const struct mprof_labels **sets = arg;
  char value[16];
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < SETS; i++) {
    snprintf(value, sizeof(value), "%d", i);
    CHECK_EQ(mprof_label_set("k", value), 0);
    sets[i] = mprof_labels_get();
    CHECK_STR(sets[i]->v[0].value, value);
  }
  return NULL;
}

int main(void) {
  static const struct mprof_labels *sets[THREADS][SETS];
  pthread_t t[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_create(&t[i], NULL, make, sets[i]), 0);
  for (int i = 0; i < THREADS; i++)
    CHECK_EQ(pthread_join(t[i], NULL), 0);
  for (int i = 0; i < SETS; i++) {
    for (int k = 1; k < THREADS; k++)
      CHECK(sets[k][i] == sets[0][i]);
    CHECK(mprof_labels_of(sets[0][i]->id) == sets[0][i]);
    CHECK(sets[0][i]->id <= SETS + 1); // with the overflow set
  }
  return 0;
}
