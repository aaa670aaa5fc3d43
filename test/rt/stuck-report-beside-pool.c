// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: stuck_report=1 does not come late if the process has 1,000 idle
// threads, which wait for a condition all the time, and much memory, so that a
// search of memory takes long. (A report that waits for the next search of the
// idle threads comes more than 5 seconds late.)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{stuck_report=1:log_path=x} timeout 120 ./app
// RUN: cat x.*.stuck.txt | FileCheck %s
//
// CHECK: Cycle 1 of 1: 2 threads wait for one another
// CHECK: has waited {{[1-4]}}.{{[0-9]+}} s for mutex
// CHECK: SUMMARY: MProf: threadleak: 2 threads, 2 certain

#include "waited.h"

#include <glob.h>

enum { IDLE = 1000, BLOCKS = 4096, BLOCK_BYTES = 65536 };

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static void *blocks[BLOCKS];

static void *idle(void *arg) {
  pthread_mutex_lock(&pool);
  for (;;)
    pthread_cond_wait(&work, &pool);
  return arg;
}
static void *a_then_b(void *arg) {
  pthread_mutex_lock(&a);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&b);
  return arg;
}
static void *b_then_a(void *arg) {
  pthread_mutex_lock(&b);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&a);
  return arg;
}
static void create(void *(*function)(void *)) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, function, NULL) == 0);
}

static void until_reported(void) {
  char pattern[64];
  glob_t found;
  snprintf(pattern, sizeof(pattern), "*.%d.stuck.txt", (int)getpid());
  int error = GLOB_NOMATCH;
  for (int i = 0; i < 6000 && error != 0; i++) {
    usleep(10000);
    error = glob(pattern, 0, NULL, &found);
  }
  NEED(error == 0);
}

int main(void) {
  for (int i = 0; i < BLOCKS; i++) {
    NEED((blocks[i] = malloc(BLOCK_BYTES)) != NULL);
    memset(blocks[i], 1, BLOCK_BYTES);
  }
  NEED(pthread_barrier_init(&both, NULL, 2) == 0);
  for (int i = 0; i < IDLE; i++)
    create(idle);
  usleep(3000000); // the idle threads are searched meanwhile
  create(a_then_b);
  create(b_then_a);
  until_reported();
  return 0;
}
