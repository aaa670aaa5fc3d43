// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads may begin and end while their stacks are taken. If a profile
// has a thread, it also has, exactly once, each live thread that began earlier
// (as in Go's TestGoroutineProfileConcurrency). A thread that lives all the
// time is in each profile.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{threads=1:symbolize=0} timeout 600 %t 20000
// RUN: %run_quiet{threads_stop=1:symbolize=0} timeout 600 %t 3000
// RUN: %run_quiet{threadcreate=0:symbolize=0} timeout 600 %t 3000

#include "waited.h"

#include <semaphore.h>

enum { LAUNCHES = 60, ROUNDS = 4, CHURNERS = 2 };

static int may_end, has_begun, ended, each;
static sem_t launched, may_leave;

// --- in the order of their launch ---

static void *wait_for_end(void *arg) {
  char name[16];
  snprintf(name, sizeof(name), "loop-%d", (int)(intptr_t)arg);
  NEED(pthread_setname_np(pthread_self(), name) == 0);
  sem_post(&launched);
  sem_wait(&may_leave);
  return NULL;
}

static void *launch(void *threads) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 65536);
  for (int i = 0; i < LAUNCHES; i++) {
    NEED(pthread_create((pthread_t *)threads + i, &attr, wait_for_end,
                        (void *)(intptr_t)i) == 0);
    sem_wait(&launched);
  }
  return NULL;
}

static char text[1 << 20];

// Checks that the threads up to the youngest one in the profile are all there,
// each once. Returns whether the last of all threads was there.
static int check_order(void) {
  int seen[LAUNCHES] = {0}, last = -1;
  NEED(mprof_stack(text, sizeof(text), 1) > 0);
  for (const char *p = text; (p = strstr(p, " \"loop-")) != NULL; p++) {
    int i = atoi(p + 7);
    NEED(i >= 0 && i < LAUNCHES);
    seen[i]++;
    last = i > last ? i : last;
  }
  for (int i = 0; i <= last; i++)
    NEED(seen[i] == 1);
  return last == LAUNCHES - 1;
}

// --- threads that are as short as possible ---

static void *end_at_once(void *arg) { return arg; }

static void *churn(void *arg) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 65536);
  for (int i = 0; i < each; i++) {
    pthread_t t;
    NEED(pthread_create(&t, &attr, end_at_once, NULL) == 0);
    NEED(pthread_join(t, NULL) == 0);
  }
  __atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
  return arg;
}

OWN_CODE(lasting) static void *lasting(void *arg) {
  __atomic_store_n(&has_begun, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
    usleep(300);
  return arg;
}
DECLARE_CODE(lasting);

static void check_lasting(void) {
  static struct mprof_stack_record r[100];
  const struct code c = CODE(lasting);
  size_t n;
  int found = 0;
  NEED(mprof_thread_profile(r, 100, &n) == 0 && n >= 2);
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < MPROF_RECORD_STACK && r[i].stack0[k] != 0; k++)
      found += is_in(&c, r[i].stack0[k]);
  NEED(found == 1);
}

int main(int argc, char **argv) {
  NEED(argc == 2);
  each = atoi(argv[1]) / CHURNERS;
  NEED(sem_init(&launched, 0, 0) == 0 && sem_init(&may_leave, 0, 0) == 0);
  for (int round = 0; round < ROUNDS; round++) {
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
  pthread_t churners[CHURNERS], t;
  NEED(pthread_create(&t, NULL, lasting, NULL) == 0);
  while (!__atomic_load_n(&has_begun, __ATOMIC_RELAXED))
    usleep(1000);
  for (int i = 0; i < CHURNERS; i++)
    NEED(pthread_create(&churners[i], NULL, churn, NULL) == 0);
  while (__atomic_load_n(&ended, __ATOMIC_RELAXED) != CHURNERS)
    check_lasting();
  may_end = 1;
  NEED(pthread_join(t, NULL) == 0);
  for (int i = 0; i < CHURNERS; i++)
    NEED(pthread_join(churners[i], NULL) == 0);
  return 0;
}
