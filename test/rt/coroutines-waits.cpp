// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the profiles of waits and of threads, too, show the coroutines that
// await a running coroutine: the block and mutex profiles, the stack of another
// thread that waits, of another thread that runs, and of the calling thread.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -fmprof-coroutines -std=c++20 -O2 -g1 -I%src/test/Inputs %coroutine_copy %s -o app
// RUN: %run{coroutines=1:block_rate=1:mutex_fraction=1:threads=1:log_path=out.%%p} ./app > text
// RUN: grep -v '^\s' text > stacks
// RUN: FileCheck --check-prefixes=WAITING,CHAIN %s < stacks
// RUN: FileCheck --check-prefixes=RUNNING,CHAIN %s < stacks
// RUN: FileCheck --check-prefixes=OWN,CHAIN %s < stacks
// RUN: FileCheck --check-prefixes=BLOCK,CHAIN %s < out.*.txt
// RUN: FileCheck --check-prefixes=MUTEX,CHAIN %s < out.*.txt
// WAITING-LABEL: [pthread_mutex_lock
// WAITING: locks
// RUNNING: {{^[^a-z]*}}spins
// OWN-LABEL: own stack
// OWN: shows_itself
// BLOCK-LABEL: Where threads waited
// BLOCK: in locks
// MUTEX-LABEL: Which unlocks ended waits
// MUTEX: in unlocks
// CHAIN: {{(^|in )}}middle
// CHAIN-NEXT: {{(^|in )}}root
// CHAIN: event_loop

#include "sync-observe.h"
#include "task.h"

#include <mprof/mprof.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t waiter;
static volatile int spins_now, may_end;
static char text[1 << 20];

static task locks() {
  co_await next_round();
  about_to_wait(&waiter);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  co_return 0;
}

static task spins() {
  co_await next_round();
  for (spins_now = 1; !may_end;)
    ;
  co_return 0;
}

static task shows_itself() {
  co_await next_round();
  mprof_stack(text, sizeof(text), 0);
  printf("own stack:\n%s\n", text);
  co_return 0;
}

static task unlocks() {
  co_await next_round();
  pthread_mutex_unlock(&mutex);
  co_return 0;
}

static task middle(task (*leaf)()) { co_return co_await leaf(); }
static task root(task (*leaf)()) {
  const int result = co_await middle(leaf);
  co_return result;
}

static void *run_locks(void *) {
  event_loop(root(locks));
  return nullptr;
}

static void *run_spins(void *) {
  event_loop(root(spins));
  return nullptr;
}

int main() {
  pthread_t waits, runs;
  pthread_mutex_lock(&mutex);
  NEED(pthread_create(&waits, nullptr, run_locks, nullptr) == 0);
  NEED(pthread_create(&runs, nullptr, run_spins, nullptr) == 0);
  until_waits_in(&waiter, SYS_futex);
  while (!spins_now)
    usleep(1000);
  mprof_stack(text, sizeof(text), 1);
  puts(text);
  may_end = 1;
  event_loop(root(unlocks));
  pthread_join(waits, nullptr);
  pthread_join(runs, nullptr);
  event_loop(root(shows_itself));
  return 0;
}
