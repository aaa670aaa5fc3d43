// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of door-go-tests.test. For each line "N MS" of its input, ten
// threads contend for two mutexes in the function mutexHogN, for MS
// milliseconds.

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 10 };

static pthread_mutex_t mu1 = PTHREAD_MUTEX_INITIALIZER,
                       mu2 = PTHREAD_MUTEX_INITIALIZER;
static double end;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *mutexHog1(void *unused) {
  while (now() < end) {
    pthread_mutex_lock(&mu1);
    pthread_mutex_lock(&mu2);
    sched_yield(); // another thread waits then, even on a single processor
    pthread_mutex_unlock(&mu1);
    pthread_mutex_unlock(&mu2);
  }
  return unused;
}

void *mutexHog2(void *unused) {
  do {
    pthread_mutex_lock(&mu1);
    pthread_mutex_lock(&mu2);
    sched_yield(); // another thread waits then, even on a single processor
    pthread_mutex_unlock(&mu1);
    pthread_mutex_unlock(&mu2);
  } while (now() < end);
  return unused;
}

int main(void) {
  int n, ms;
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (scanf("%d %d", &n, &ms) == 2) {
    pthread_t t[THREADS];
    end = now() + ms / 1000.0;
    for (int i = 0; i < THREADS; i++)
      pthread_create(&t[i], NULL, n == 1 ? mutexHog1 : mutexHog2, NULL);
    for (int i = 0; i < THREADS; i++)
      pthread_join(t[i], NULL);
    puts("done");
  }
  return 0;
}
