// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a hundred runs, threads are launched one after another, while the
// stacks of all threads are taken. If a profile has a thread, it has each
// thread launched before that one exactly once, with its labels. Threads that
// begin and end waits all the time always appear with their labels. (Go:
// TestGoroutineProfileConcurrency, launches)
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{threads=1:symbolize=0} timeout 600 %t %if emulated %{10%} %else %{100%}
// RUN: %run_quiet{threads_stop=1:symbolize=0} timeout 600 %t 10

#include "waited.h"

#include <semaphore.h>

enum { LAUNCHES = 30 };

static sem_t launched, may_leave;

// The launching thread changes its labels while it is profiled, so its own
// labels may be later ones. These labels are those of the launched threads.
static void *wait_for_end(void *arg) {
  NEED(mprof_label_set("launched", "yes") == 0);
  sem_post(&launched);
  sem_wait(&may_leave);
  return arg;
}

enum { STEADY = 2 };

static int may_end;

static void *wait_often(void *arg) {
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
    usleep(20);
  return arg;
}

static void *launch(void *threads) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 65536);
  for (int i = 0; i < LAUNCHES; i++) {
    char value[16];
    snprintf(value, sizeof(value), "%d", i);
    NEED(mprof_label_set("loop-i", value) == 0);
    NEED(pthread_create((pthread_t *)threads + i, &attr, wait_for_end, NULL) ==
         0);
    sem_wait(&launched);
  }
  return NULL;
}

static char text[1 << 20];
static int between; // profiles with some threads, but not all

static int count(const char *what) {
  int n = 0;
  for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
    n++;
  return n;
}

// Returns whether the text has the last thread.
static int check_order(void) {
  int seen[LAUNCHES] = {0}, last = -1;
  NEED(mprof_stack(text, sizeof(text), 1) > 0);
  NEED(count("] {\"steady\":\"yes\"}:") == STEADY);
  const char key[] = "] {\"launched\":\"yes\", \"loop-i\":\"";
  for (const char *p = text; (p = strstr(p, key)) != NULL; p++) {
    int i = atoi(p + strlen(key));
    NEED(i >= 0 && i < LAUNCHES);
    seen[i]++;
    last = i > last ? i : last;
  }
  for (int i = 0; i <= last; i++)
    NEED(seen[i] == 1);
  between += last >= 0 && last < LAUNCHES - 1;
  return last == LAUNCHES - 1;
}

int main(int argc, char **argv) {
  NEED(argc == 2);
  NEED(sem_init(&launched, 0, 0) == 0 && sem_init(&may_leave, 0, 0) == 0);
  pthread_t steady[STEADY];
  for (int i = 0; i < STEADY; i++) {
    MPROF_LABELS("steady", "yes");
    NEED(pthread_create(&steady[i], NULL, wait_often, NULL) == 0);
  }
  while (mprof_stack(text, sizeof(text), 1) > 0 &&
         count("{\"steady\":\"yes\"}") != STEADY)
    usleep(1000);
  for (int run = 0; run < atoi(argv[1]); run++) {
    pthread_t launcher, threads[LAUNCHES];
    NEED(pthread_create(&launcher, NULL, launch, threads) == 0);
    while (!check_order())
      ;
    NEED(pthread_join(launcher, NULL) == 0);
    for (int i = 0; i < LAUNCHES; i++)
      sem_post(&may_leave);
    for (int i = 0; i < LAUNCHES; i++)
      NEED(pthread_join(threads[i], NULL) == 0);
  }
  __atomic_store_n(&may_end, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < STEADY; i++)
    NEED(pthread_join(steady[i], NULL) == 0);
  NEED(between > 0);
  return 0;
}
