// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads meet at a barrier after every step. Now and then the slowest thread
// is late on purpose. Each thread writes to its neighbour under two locks,
// which it always takes in the same order.

#include "soak.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 5, STEPS = 200 };

static pthread_barrier_t barrier;
static struct cell {
  pthread_mutex_t lock;
  unsigned long value;
} cells[THREADS];

static void add_to_next(int i) {
  const int next = (i + 1) % THREADS;
  struct cell *low = &cells[i < next ? i : next];
  struct cell *high = &cells[i < next ? next : i];
  pthread_mutex_lock(&low->lock);
  pthread_mutex_lock(&high->lock);
  cells[next].value++;
  pthread_mutex_unlock(&high->lock);
  pthread_mutex_unlock(&low->lock);
}

static void *work(void *arg) {
  const int i = (int)(long)arg;
  for (int step = 0; step < STEPS; step++) {
    add_to_next(i);
    if (i == 0 && step % 100 == 0)
      usleep(10000);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

static int round_of_steps(void) {
  pthread_t threads[THREADS];
  int is_right = 1;
  if (pthread_barrier_init(&barrier, NULL, THREADS) != 0)
    return 0;
  for (int i = 0; i < THREADS; i++) {
    cells[i].value = 0;
    pthread_mutex_init(&cells[i].lock, NULL);
  }
  for (long i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
      exit(1);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) {
    is_right &= cells[i].value == STEPS;
    pthread_mutex_destroy(&cells[i].lock);
  }
  pthread_barrier_destroy(&barrier);
  return is_right;
}

int main(int argc, char **argv) { return soak_run(argc, argv, round_of_steps); }
