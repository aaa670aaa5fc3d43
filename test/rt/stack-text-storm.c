// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stacks of all threads are printed a thousand times. Meanwhile a
// profiling timer interrupts the running thread a thousand times a second and
// takes stacks itself, and the threads allocate, lock, wait and are created.
// Nothing hangs or crashes, and no thread is missing.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{threads=1:symbolize=0:heap_rate=1} timeout 600 %t 1000

#include "waited.h"

#include <signal.h>
#include <sys/time.h>

enum { WORKERS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int named, may_end, samples;

static void *nothing(void *arg) { return arg; }

static void *work(void *arg) {
  NEED(pthread_setname_np(pthread_self(), "worker") == 0);
  __atomic_add_fetch(&named, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED)) {
    pthread_t t;
    for (int i = 0; i < 20; i++) {
      void *volatile block = malloc(100);
      free(block);
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
    NEED(pthread_create(&t, NULL, nothing, NULL) == 0);
    NEED(pthread_join(t, NULL) == 0);
    usleep(500);
  }
  return arg;
}

static void on_timer(int sig) {
  char text[256];
  (void)sig;
  NEED(mprof_stack(text, sizeof(text), 0) == strlen(text));
  __atomic_add_fetch(&samples, 1, __ATOMIC_RELAXED);
}

static char text[65536];

static int count(const char *what) {
  int n = 0;
  for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
    n++;
  return n;
}

int main(int argc, char **argv) {
  const int texts = argc > 1 ? atoi(argv[1]) : 0;
  NEED(texts > 0);
  pthread_t t[WORKERS];
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  NEED(sigaction(SIGPROF, &action, NULL) == 0);
  for (int i = 0; i < WORKERS; i++)
    NEED(pthread_create(&t[i], NULL, work, NULL) == 0);
  while (__atomic_load_n(&named, __ATOMIC_RELAXED) != WORKERS)
    usleep(1000);
  struct itimerval each_ms = {{0, 1000}, {0, 1000}};
  NEED(setitimer(ITIMER_PROF, &each_ms, NULL) == 0);
  for (int i = 0; i < texts; i++) {
    NEED(mprof_stack(text, sizeof(text), 1) == strlen(text));
    NEED(count(" \"worker\" [") >= WORKERS); // children have the name, too
  }
  may_end = 1;
  for (int i = 0; i < WORKERS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  NEED(samples > 0);
  return 0;
}
