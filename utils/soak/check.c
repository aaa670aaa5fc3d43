// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked to each program of soak.sh: a thread that asks once a second which
// threads are stuck. A healthy program has none, so each thread that MProf
// names is a fault of MProf. Leaves in the working directory:
//   stuck.N   the profile of a check that named a thread
//   checks    "CHECKS FAULTS", written when the program ends by itself. A
//             program that is killed leaves no such file

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ends;
  int has_ended; // guarded by lock
  int checks, faults;
} checker = {.lock = PTHREAD_MUTEX_INITIALIZER,
             .ends = PTHREAD_COND_INITIALIZER};

// Returns the total in the head of the profile, "threadleak profile: total 3",
// or -1 if there is no head.
static int count_stuck(const char *path) {
  int n = -1;
  FILE *f = fopen(path, "r");
  if (f && fscanf(f, "threadleak profile: total %d", &n) != 1)
    n = -1;
  if (f)
    fclose(f);
  return n;
}

static void check(void) {
  if (mprof_write_profile("threadleak", "check", 1) != 0)
    return;
  const int n = count_stuck("check");
  checker.checks += n >= 0;
  if (n > 0) {
    char kept[32];
    snprintf(kept, sizeof(kept), "stuck.%d", ++checker.faults);
    rename("check", kept);
  }
  remove("check");
}

static void *check_often(void *arg) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  pthread_mutex_lock(&checker.lock);
  while (!checker.has_ended) {
    t.tv_sec++;
    pthread_cond_timedwait(&checker.ends, &checker.lock, &t);
    if (checker.has_ended)
      break;
    pthread_mutex_unlock(&checker.lock);
    check();
    clock_gettime(CLOCK_REALTIME, &t);
    pthread_mutex_lock(&checker.lock);
  }
  pthread_mutex_unlock(&checker.lock);
  return arg;
}

static void end(void) {
  pthread_mutex_lock(&checker.lock);
  checker.has_ended = 1;
  pthread_cond_signal(&checker.ends);
  pthread_mutex_unlock(&checker.lock);
  pthread_join(checker.thread, NULL);
  FILE *f = fopen("checks", "w");
  if (!f || fprintf(f, "%d %d\n", checker.checks, checker.faults) < 0 ||
      fclose(f) != 0)
    abort(); // otherwise the faults would go unseen
}

__attribute__((constructor)) static void begin(void) {
  if (pthread_create(&checker.thread, NULL, check_often, NULL) != 0)
    abort();
  atexit(end);
}
