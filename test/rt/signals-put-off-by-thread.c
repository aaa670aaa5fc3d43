// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: signals of dump_on_signal come while threads are inside the profiler,
// which delays them. Later the program's handler runs in each of these threads
// with the signal's own data, also for several instances of one real-time
// signal. When a thread leaves the profiler, the signals are not blocked. They
// are not blocked in a forked child either.
//
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{heap_rate=1:dump_on_signal=USR1+40} %t 2> %t.err
// RUN: not grep "could not be handled later" %t.err

#define CHECK_EXIT _exit
#include "check.h"

#include <mprof/mprof.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, ROUNDS = 300, QUEUED = 5, REAL_TIME = 40 };

static _Thread_local int self;
// The thread with the last index forks.
static atomic_int came[THREADS + 1], queued[THREADS + 1], wrong;
static atomic_int ready;
static atomic_bool ends;

static void own(int sig, siginfo_t *info, void *context) {
  (void)context;
  if (info->si_value.sival_int / 1000 != self || info->si_pid != getpid())
    atomic_fetch_add(&wrong, 1);
  if (sig == SIGUSR1) {
    atomic_fetch_add(&came[self], 1);
    return;
  }
  atomic_fetch_add(&queued[self], 1 << info->si_value.sival_int % 1000);
}

// Runs before the runtime starts.
static void early(void) {
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_sigaction = own;
  sa.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGUSR1, &sa, NULL);
  sigaction(REAL_TIME, &sa, NULL);
}
__attribute__((section(".preinit_array"),
               used)) static void (*at)(void) = early;

static int is_blocked(void) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, SIGUSR1) || sigismember(&now, REAL_TIME);
}

// Is inside the profiler nearly all the time.
static void *work(void *arg) {
  size_t n;
  self = *(int *)arg;
  atomic_fetch_add(&ready, 1);
  while (!atomic_load(&ends)) {
    mprof_mem_profile(NULL, 0, 1, &n);
    CHECK(!is_blocked());
  }
  return NULL;
}

static void send(pthread_t *t, int sig, int value) {
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_sigqueue(t[i], sig,
                           (union sigval){.sival_int = i * 1000 + value}) == 0);
}

static void wait_for(atomic_int *counts, int n) {
  for (int i = 0; i < THREADS; i++)
    while (atomic_load(&counts[i]) < n)
      usleep(10);
}

// Signals come all the time, so that some come between fork's handlers.
static void *fork_often(void *arg) {
  self = THREADS;
  atomic_fetch_add(&ready, 1);
  for (int i = 0; i < 100; i++) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
      _exit(is_blocked());
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0 && !is_blocked());
  }
  atomic_store((atomic_bool *)arg, true);
  return NULL;
}

int main(void) {
  static int ids[THREADS] = {0, 1};
  pthread_t t[THREADS], forker;
  struct sigaction now;
  CHECK(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_sigaction != own);
  alarm(60);                        // ends the test if a signal is lost
  for (size_t i = 0; i < 2000; i++) // makes a profile take a while
    free(malloc(10000 + i));
  for (int i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, work, &ids[i]);
  while (atomic_load(&ready) < THREADS)
    usleep(10);
  for (int round = 1; round <= ROUNDS; round++) {
    send(t, SIGUSR1, 0);
    wait_for(came, round);
  }
  for (int i = 0; i < QUEUED; i++)
    send(t, REAL_TIME, i);
  wait_for(queued, (1 << QUEUED) - 1); // each once
  atomic_store(&ends, true);
  for (int i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);

  atomic_bool forked = false;
  pthread_create(&forker, NULL, fork_often, &forked);
  while (atomic_load(&ready) == THREADS)
    usleep(10);
  while (!atomic_load(&forked)) {
    pthread_sigqueue(forker, SIGUSR1,
                     (union sigval){.sival_int = THREADS * 1000});
    usleep(100);
  }
  pthread_join(forker, NULL);
  for (int i = 0; i < THREADS; i++)
    CHECK(atomic_load(&came[i]) == ROUNDS &&
          atomic_load(&queued[i]) == (1 << QUEUED) - 1);
  CHECK(atomic_load(&came[THREADS]) > 0);
  CHECK(atomic_load(&wrong) == 0);
  return 0;
}
