// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a chain of threads, each thread creates the next thread. A threads
// profile that is taken meanwhile has no gap: if it has a thread, it has all
// threads before it in the chain. No thread is in the profile twice.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{threads=1:symbolize=0} timeout 600 %t
// RUN: %run_quiet{threads_stop=1:symbolize=0} timeout 600 %t
// RUN: %run_quiet{threadcreate=0:symbolize=0} timeout 600 %t

#include "waited.h"

#include <semaphore.h>
#include <sys/resource.h>

enum { CHAINS = 6, LENGTH = 120, ROUNDS = 12, TIDS = 1 << 22 };

// A thread that has created the next thread of its chain, and waits.
struct link {
  int number; // in its chain
  pthread_t next;
  int tid; // 0: the thread has not run yet
};

static struct chain {
  pthread_t first;
  struct link links[LENGTH];
} chains[CHAINS];
static int length = LENGTH; // of each chain; the emulator is slow
static pthread_attr_t attr;
static int born, is_over;
static sem_t may_begin, may_end;

static void *live(void *arg) {
  struct link *l = (struct link *)arg;
  __atomic_store_n(&l->tid, (int)own_tid(), __ATOMIC_RELEASE);
  if (l->number == 0)
    NEED(sem_wait(&may_begin) == 0);
  if (l->number + 1 < length)
    NEED(pthread_create(&l->next, &attr, live, l + 1) == 0);
  __atomic_add_fetch(&born, 1, __ATOMIC_RELAXED);
  NEED(sem_wait(&may_end) == 0);
  if (l->number + 1 < length)
    NEED(pthread_join(l->next, NULL) == 0);
  return NULL;
}

// Number of profiles, of profiles that lack threads, and the largest number of
// threads that a profile lacks.
static int profiles, bad, most;
// Held while a profile is taken and while chains end.
static pthread_mutex_t chains_last = PTHREAD_MUTEX_INITIALIZER;

static char text[1 << 22];
static unsigned char seen[TIDS]; // number of paragraphs of each thread id

// Takes a profile. Returns the number of threads that it lacks.
static int take(void) {
  int missing = 0;
  memset(seen, 0, sizeof(seen));
  NEED(mprof_stack(text, sizeof(text), 1) < sizeof(text) - 1);
  for (const char *p = text; p != NULL; p = strstr(p, "\nthread ")) {
    p += *p == '\n';
    const int tid = atoi(p + strlen("thread "));
    NEED(tid > 0 && tid < TIDS && seen[tid]++ == 0);
  }
  for (int c = 0; c < CHAINS; c++) {
    int is_younger_there = 0;
    for (int i = length - 1; i >= 0; i--) {
      const int tid =
          __atomic_load_n(&chains[c].links[i].tid, __ATOMIC_ACQUIRE);
      is_younger_there |= seen[tid];
      missing += is_younger_there && !seen[tid];
    }
  }
  return missing;
}

static void make_chains(void) {
  memset(chains, 0, sizeof(chains));
  born = 0;
  for (int c = 0; c < CHAINS; c++) {
    for (int i = 0; i < length; i++)
      chains[c].links[i].number = i;
    NEED(pthread_create(&chains[c].first, &attr, live, chains[c].links) == 0);
  }
}

static void end_chains(void) {
  for (int i = 0; i < CHAINS * length; i++)
    NEED(sem_post(&may_end) == 0);
  for (int c = 0; c < CHAINS; c++)
    NEED(pthread_join(chains[c].first, NULL) == 0);
}

// Takes profiles while no chain ends. This thread has the lowest priority, so
// that many threads are born while it takes a profile.
static void *take_all(void *arg) {
  NEED(setpriority(PRIO_PROCESS, (id_t)own_tid(), 19) == 0);
  while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
    NEED(pthread_mutex_lock(&chains_last) == 0);
    const int missing = take();
    NEED(pthread_mutex_unlock(&chains_last) == 0);
    profiles++;
    bad += missing > 0;
    most = missing > most ? missing : most;
    usleep(100);
  }
  return arg;
}

int main(void) {
  pthread_t taker;
  int rounds = ROUNDS;
  if (is_emulated()) {
    rounds /= 3;
    length /= 6;
  }
  NEED(sem_init(&may_begin, 0, 0) == 0 && sem_init(&may_end, 0, 0) == 0);
  NEED(pthread_attr_init(&attr) == 0);
  NEED(pthread_attr_setstacksize(&attr, 128 << 10) == 0);
  make_chains();
  NEED(pthread_create(&taker, NULL, take_all, NULL) == 0);
  for (int round = 0; round < rounds; round++) {
    usleep((useconds_t)round * 20);
    for (int c = 0; c < CHAINS; c++)
      NEED(sem_post(&may_begin) == 0);
    while (__atomic_load_n(&born, __ATOMIC_RELAXED) < CHAINS * length)
      usleep(100);
    NEED(pthread_mutex_lock(&chains_last) == 0);
    end_chains();
    make_chains();
    NEED(pthread_mutex_unlock(&chains_last) == 0);
  }
  for (int c = 0; c < CHAINS; c++)
    NEED(sem_post(&may_begin) == 0);
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  NEED(pthread_join(taker, NULL) == 0);
  end_chains();
  if (bad > 0)
    fprintf(stderr, "%d of %d profiles lack threads, up to %d\n", bad, profiles,
            most);
  return bad > 0;
}
