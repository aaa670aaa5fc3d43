// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report of stuck threads has the threads that got stuck a little
// later than the first ones, if they have waited for half of the wanted time.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs -I%src/rt %s -o app \
// RUN:   -Wl,--whole-archive %rtlib -Wl,--no-whole-archive \
// RUN:   -Wl,--wrap=mprof_stuck_look,--wrap=mprof_stuck_take
// RUN: %run_quiet{stuck_report=2:log_path=p} timeout 600 ./app
// RUN: grep 'SUMMARY: MProf: threadleak: 4 threads, 4 certain' p.*.stuck.txt

#define _GNU_SOURCE
#include "sync-observe.h"

#include "stuck/stuck.h"
#include "sys/clock.h"

#include <glob.h>

static pthread_mutex_t locks[4] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t barriers[2];
static pid_t tids[4];

// A time after the first two threads and before the others got stuck, and a
// time when all of them were stuck, in ticks of the runtime.
static _Atomic uint64_t between, end;
static int takes;

// The watch thread looks when the last threads have waited for half of the
// time, and only the first ones have waited for the whole time.
struct mprof_stuck_signs __wrap_mprof_stuck_look(uint64_t age);
struct mprof_stuck_signs __wrap_mprof_stuck_look(uint64_t age) {
  return (struct mprof_stuck_signs){
      .is_stuck = end != 0 && mprof_clock_now() - end > age / 2};
}
int __real_mprof_stuck_take(struct mprof_stuck *g,
                            const struct mprof_caller *caller, uint64_t age);
int __wrap_mprof_stuck_take(struct mprof_stuck *g,
                            const struct mprof_caller *caller, uint64_t age);
int __wrap_mprof_stuck_take(struct mprof_stuck *g,
                            const struct mprof_caller *caller, uint64_t age) {
  if (takes++ == 0)
    age = mprof_clock_now() - between;
  return __real_mprof_stuck_take(g, caller, age);
}

// Thread i takes lock i, and then that of the other thread of its pair.
static void *take_two(void *arg) {
  const long i = (long)arg;
  pthread_mutex_lock(&locks[i]);
  pthread_barrier_wait(&barriers[i / 2]);
  about_to_wait(&tids[i]);
  pthread_mutex_lock(&locks[i ^ 1]);
  return NULL;
}

int main(void) {
  glob_t found;
  for (long i = 0; i < 4; i++) {
    pthread_t thread;
    if (i % 2 == 0)
      NEED(pthread_barrier_init(&barriers[i / 2], NULL, 2) == 0);
    NEED(pthread_create(&thread, NULL, take_two, (void *)i) == 0);
    if (i % 2 == 0)
      continue;
    for (long k = i - 1; k <= i; k++)
      until_waits_for(&tids[k], &locks[k ^ 1], sizeof(locks[0]));
    *(i == 1 ? &between : &end) = mprof_clock_now();
  }
  while (glob("p.*.stuck.txt", 0, NULL, &found) != 0)
    pause_us(10000);
  return 0;
}
