// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the profile locks shows where the holder took a lock, and not where
// the same thread had waited for it before, when code without MProf released
// it. So it is in the same process, and in a child that is forked in between,
// where the stack of that wait no longer exists.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -c -O1 -g -DUNSEEN %s -o unseen.o
// RUN: %mprof_clang -fmprof -O1 -g -pthread -I%src/test/Inputs %s unseen.o -o app
// RUN: for how in stay fork; do \
// RUN:   %run{block_rate=1:mutex_fraction=1:log_path=$how.%%p:report=0} ./app $how && \
// RUN:   %mprof locks -n 0 --format=json $how.*.locks.pb.gz > $how.json && \
// RUN:   FileCheck %s --input-file=$how.json || exit 1; done
// CHECK-NOT: "taken": {{.*}}waits_early
// CHECK: "taken": ["takes_late
// CHECK-NOT: "taken": {{.*}}waits_early

#ifdef UNSEEN

#include <pthread.h>
void unlock_unseen(pthread_mutex_t *m) { pthread_mutex_unlock(m); }

#else

#include "waited.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

void unlock_unseen(pthread_mutex_t *m);

// Each has a word of __mprof_waiters of its own.
static _Alignas(64) pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) pthread_barrier_t taken;

static void *holds_unseen(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_barrier_wait(&taken);
  until_waited_for(&lock);
  unlock_unseen(&lock);
  return unused;
}

NOINLINE static void waits_early(void) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  __asm__ volatile("" ::: "memory");
}

static void *holds(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_barrier_wait(&taken);
  until_waited_for(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

static void *waits(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

NOINLINE static void takes_late(void) {
  pthread_mutex_lock(&lock);
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv) {
  pthread_t holder, waiter;
  pthread_barrier_init(&taken, NULL, 2);
  pthread_create(&holder, NULL, holds_unseen, NULL);
  pthread_barrier_wait(&taken);
  waits_early();
  pthread_join(holder, NULL);
  if (argc > 1 && strcmp(argv[1], "fork") == 0) {
    const pid_t child = fork();
    if (child != 0) {
      NEED(waitpid(child, NULL, 0) == child);
      _exit(0);
    }
  }
  // A contended release, so that the next acquisitions are noted.
  pthread_create(&holder, NULL, holds, NULL);
  pthread_barrier_wait(&taken);
  pthread_create(&waiter, NULL, waits, NULL);
  pthread_join(holder, NULL);
  pthread_join(waiter, NULL);
  takes_late();
  pthread_create(&waiter, NULL, waits, NULL);
  until_waited_for(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(waiter, NULL);
  return 0;
}
#endif
