// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: ten threads change their labels all the time, in normal code and in
// timer handlers that may interrupt the profiler anywhere. Meanwhile threads
// begin and profiles of all kinds are taken. Nothing hangs or crashes, and each
// thread has the labels that it has set. (Go: TestGoroutineProfileLabelRace)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{threads=1:symbolize=0:heap_rate=1:block_rate=1:mutex_fraction=1:max_labels=300} \
// RUN:   timeout 600 ./app
// RUN: %run_quiet{threads_stop=1:symbolize=0:heap_rate=1:trace_last_mb=4:log_path=x} \
// RUN:   timeout 600 ./app
// RUN: %trace_check -q x.*.trace

#include "waited.h"

#include <signal.h>
#include <sys/time.h>

enum { WORKERS = 10, ROUNDS = 12 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int may_end, in_handlers;
static char text[1 << 18];

static void *check_inherited(void *labels) {
  NEED(mprof_labels_get() == labels);
  return NULL;
}

static void *work(void *arg) {
  char value[16];
  for (int i = 0; !__atomic_load_n(&may_end, __ATOMIC_RELAXED); i++) {
    // Makes more sets of labels than max_labels=300 allows.
    snprintf(value, sizeof(value), "%d", i % 50 + 50 * *(int *)arg);
    mprof_labels_swap(NULL);
    const int error = mprof_label_set("loop", value);
    NEED(error == 0 || error == ENOSPC);
    const struct mprof_labels *set = mprof_labels_get();
    void *volatile p = malloc(100);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    free(p);
    NEED(mprof_labels_get() == set);
    if (i % 32 == 0) {
      pthread_t t;
      NEED(pthread_create(&t, NULL, check_inherited, (void *)set) == 0);
      NEED(pthread_join(t, NULL) == 0);
    }
  }
  return NULL;
}

static void on_timer(int sig) {
  char name[64];
  (void)sig;
  const int saved = errno;
  const struct mprof_labels *before = mprof_labels_get();
  const int error = mprof_label_set("handler", "yes");
  NEED(error == 0 || error == ENOSPC || error == EBUSY);
  NEED((mprof_labels_get() == before) == (error == EBUSY) || error == ENOSPC);
  mprof_labels_text(mprof_labels_get(), name, sizeof(name));
  mprof_labels_swap(before);
  __atomic_add_fetch(&in_handlers, 1, __ATOMIC_RELAXED);
  errno = saved;
}

int main(void) {
  pthread_t t[WORKERS];
  int numbers[WORKERS];
  size_t n;
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  NEED(sigaction(SIGPROF, &action, NULL) == 0);
  for (int i = 0; i < WORKERS; i++) {
    numbers[i] = i;
    NEED(pthread_create(&t[i], NULL, work, &numbers[i]) == 0);
  }
  struct itimerval each_ms = {{0, 1000}, {0, 1000}};
  NEED(setitimer(ITIMER_PROF, &each_ms, NULL) == 0);
  for (int i = 0; i < ROUNDS; i++) {
    NEED(mprof_stack(text, sizeof(text), 1) == strlen(text));
    for (int debug = 0; debug < 2; debug++) {
      NEED(mprof_write_profile("threads", "threads", debug) == 0);
      NEED(mprof_write_profile("heap", "heap", debug) == 0);
      NEED(mprof_write_profile("block", "block", debug) == 0);
      NEED(mprof_write_profile("mutex", "mutex", debug) == 0);
    }
    mprof_mutex_profile(NULL, 0, &n);
  }
  __atomic_store_n(&may_end, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < WORKERS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  NEED(in_handlers > 0);
  return 0;
}
