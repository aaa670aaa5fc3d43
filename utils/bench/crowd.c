// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A service with very many threads, for the benchmark of crowds of threads.
//
//   crowd create THREADS TIMES     creates threads that meet at a barrier, and
//                                  joins them; "us" is the time of one thread
//   crowd pace THREADS SECONDS     the rounds that all threads make in each
//                                  second, as "rounds", and the processor time
//                                  of a round, as "cpu_us"
//
// In a round, a thread sleeps for 20 to 30 ms, takes a lock that all threads
// share, and allocates and frees a block.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 65536 };

static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long rounds; // guarded by `lock`

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double processor_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void take(void) {
  pthread_mutex_lock(&lock);
  rounds++;
  pthread_mutex_unlock(&lock);
}

static void *meet(void *arg) {
  void *volatile p = malloc(64);
  pthread_barrier_wait(&all);
  take();
  free(p);
  return arg;
}

static void *serve(void *arg) {
  for (;;) {
    usleep((useconds_t)(20000 + (size_t)arg % 10000));
    take();
    void *volatile p = malloc(50);
    free(p);
  }
  return arg;
}

static void start(pthread_t *t, void *(*run)(void *), size_t i) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, STACK);
  if (pthread_create(t, &attr, run, (void *)i) != 0) {
    fprintf(stderr, "crowd: no thread %zu\n", i);
    exit(1);
  }
  pthread_attr_destroy(&attr);
}

static void create(size_t threads, int times) {
  pthread_t *t = malloc(threads * sizeof(*t));
  for (int n = 0; n < times; n++) {
    const double begin = now();
    pthread_barrier_init(&all, NULL, (unsigned)threads + 1);
    for (size_t i = 0; i < threads; i++)
      start(&t[i], meet, i);
    pthread_barrier_wait(&all);
    for (size_t i = 0; i < threads; i++)
      pthread_join(t[i], NULL);
    pthread_barrier_destroy(&all);
    printf("us %.3f\n", (now() - begin) * 1e6 / (double)threads);
  }
  free(t);
}

static void pace(size_t threads, int seconds) {
  for (size_t i = 0; i < threads; i++) {
    pthread_t t;
    start(&t, serve, i);
  }
  sleep(1);
  for (int s = 0; s < seconds; s++) {
    const double begin = now();
    const double begin_us = processor_us();
    const long before = rounds;
    sleep(1);
    const double made = (double)(rounds - before);
    printf("rounds %.0f\ncpu_us %.3f\n", made / (now() - begin),
           (processor_us() - begin_us) / made);
    fflush(stdout);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  const size_t threads = strtoul(argv[2], NULL, 10);
  if (strcmp(argv[1], "create") == 0)
    create(threads, atoi(argv[3]));
  else
    pace(threads, atoi(argv[3]));
  return 0;
}
