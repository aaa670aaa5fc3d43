// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of http-go-tests.test. For each line "N MS" of its input, ten
// threads contend for two mutexes in the function mutexHogN, for MS
// milliseconds.

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 10 };

static pthread_mutex_t mu1 = PTHREAD_MUTEX_INITIALIZER,
                       mu2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_run;
static double end;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *mutexHog1(void *unused) {
  for (int i = 0; i < 10 || now() < end; i++) {
    pthread_mutex_lock(&mu1);
    pthread_mutex_lock(&mu2);
    sched_yield(); // another thread waits then, even on a single processor
    pthread_mutex_unlock(&mu1);
    pthread_mutex_unlock(&mu2);
  }
  return unused;
}

void *mutexHog2(void *unused) {
  for (int i = 0; i < 11 || now() < end; i++) {
    pthread_mutex_lock(&mu1);
    pthread_mutex_lock(&mu2);
    sched_yield(); // another thread waits then, even on a single processor
    pthread_mutex_unlock(&mu1);
    pthread_mutex_unlock(&mu2);
  }
  return unused;
}

// The time begins when all threads run, which may take a while.
static void *run(void *hog) {
  pthread_barrier_wait(&all_run);
  return ((void *(*)(void *))hog)(NULL);
}

int main(void) {
  int n, ms;
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (scanf("%d %d", &n, &ms) == 2) {
    pthread_t t[THREADS];
    void *(*hog)(void *) = n == 1 ? mutexHog1 : mutexHog2;
    pthread_barrier_init(&all_run, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
      pthread_create(&t[i], NULL, run, (void *)hog);
    end = now() + ms / 1000.0;
    pthread_barrier_wait(&all_run);
    for (int i = 0; i < THREADS; i++)
      pthread_join(t[i], NULL);
    puts("done");
  }
  return 0;
}
