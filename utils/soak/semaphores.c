// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Producers and consumers share a ring with two semaphores. At any time,
// threads wait for one of the two. The ring and its semaphores are on the heap.

#include "soak.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

enum { PRODUCERS = 3, CONSUMERS = 3, EACH = 500, ROOM = 8 };

struct ring {
  sem_t full, empty;
  pthread_mutex_t lock;
  int values[ROOM], in, out; // guarded by lock
};

static void *produce(void *arg) {
  struct ring *r = arg;
  for (int i = 1; i <= EACH; i++) {
    sem_wait(&r->empty);
    pthread_mutex_lock(&r->lock);
    r->values[r->in++ % ROOM] = i;
    pthread_mutex_unlock(&r->lock);
    sem_post(&r->full);
    if (i == EACH / 2)
      usleep(10000); // consumers wait for some time
  }
  return NULL;
}

static void *consume(void *arg) {
  struct ring *r = arg;
  long sum = 0;
  for (int i = 0; i < EACH; i++) {
    sem_wait(&r->full);
    pthread_mutex_lock(&r->lock);
    sum += r->values[r->out++ % ROOM];
    pthread_mutex_unlock(&r->lock);
    sem_post(&r->empty);
  }
  return (void *)sum;
}

static int round_of_ring(void) {
  pthread_t threads[PRODUCERS + CONSUMERS];
  struct ring *r = calloc(1, sizeof(*r));
  long sum = 0;
  if (!r || sem_init(&r->full, 0, 0) != 0 || sem_init(&r->empty, 0, ROOM) != 0)
    return 0;
  pthread_mutex_init(&r->lock, NULL);
  for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
    if (pthread_create(&threads[i], NULL, i < PRODUCERS ? produce : consume,
                       r) != 0)
      exit(1);
  for (int i = 0; i < PRODUCERS + CONSUMERS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  pthread_mutex_destroy(&r->lock);
  sem_destroy(&r->full);
  sem_destroy(&r->empty);
  free(r);
  return sum == (long)PRODUCERS * EACH * (EACH + 1) / 2;
}

int main(int argc, char **argv) { return soak_run(argc, argv, round_of_ring); }
