// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with heap_rate=1 the heapx profile is exact even if several threads
// allocate with the same call stack. A block is temporary if its thread frees
// it before the thread's next allocation. A block that another thread frees is
// not temporary, even if the same address passes from thread to thread.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 %s -o app
// RUN: %run{heap_rate=1:heapx=1:log_path=p:report=0} ./app > truth
// RUN: %python %src/test/Inputs/compare_heapx.py p.*.heapx.pb.gz truth

#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, N = 20000, HANDED = 1000, ROUNDS = 1000, RING = 3 };
static _Thread_local void *volatile mine;
static unsigned long long slack[THREADS];

static void *share_stacks(void *arg) {
  for (int i = 0; i < N; i++) {
    mine = malloc(101);
    *(unsigned long long *)arg += malloc_usable_size(mine) - 101;
    free(mine);
    mine = malloc(102);
    void *p = realloc(mine, 97); // stays in place
    if (p != mine)
      exit(1);
    free(p);
  }
  return NULL;
}

static sem_t turn[RING];
static void *volatile handed;
static int same_address;

// Allocates blocks that take() frees. The thread makes no other allocation
// before the free.
static void *give(void *arg) {
  for (int i = 0; i < HANDED; i++) {
    handed = malloc(103);
    sem_post(&turn[1]);
    sem_wait(&turn[0]);
  }
  return arg;
}

static void *take(void *arg) {
  for (int i = 0; i < HANDED; i++) {
    sem_wait(&turn[1]);
    free(handed);
    sem_post(&turn[0]);
  }
  return arg;
}

// Each thread frees the block of the thread before it and allocates the next
// block, all at one stack.
static void *pass_on(void *arg) {
  sem_t *own = arg, *next = own + 1 == turn + RING ? turn : own + 1;
  for (int i = 0; i < ROUNDS; i++) {
    sem_wait(own);
    void *before = handed;
    free(handed);
    handed = malloc(104);
    same_address += handed == before;
    sem_post(next);
  }
  return NULL;
}

// Frees a block, whose address send_back() then allocates. Then frees the block
// of send_back(), too.
static void *come_back(void *arg) {
  (void)arg;
  for (int i = 0; i < ROUNDS; i++) {
    void *p = mine = malloc(5000);
    free(p);
    sem_post(&turn[1]);
    sem_wait(&turn[0]);
    same_address += handed == p;
    free(handed);
  }
  return NULL;
}

static void *send_back(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    sem_wait(&turn[1]);
    handed = malloc(5001);
    sem_post(&turn[0]);
  }
  return arg;
}

static void run_two(void *(*f)(void *), void *(*g)(void *)) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, f, NULL);
  pthread_create(&t[1], NULL, g, NULL);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
}

static void run(int n, void *(*f)(void *), void *args, size_t each) {
  pthread_t t[THREADS];
  for (int i = 0; i < n; i++)
    pthread_create(&t[i], NULL, f, (char *)args + (size_t)i * each);
  for (int i = 0; i < n; i++)
    pthread_join(t[i], NULL);
}

int main(void) {
  mallopt(M_ARENA_MAX, 1); // threads use the memory of each other
  for (int i = 0; i < RING; i++)
    sem_init(&turn[i], 0, 0);
  run(THREADS, share_stacks, slack, sizeof(slack[0]));
  for (int i = 1; i < THREADS; i++)
    slack[0] += slack[i];
  printf("101 temporary_objects=%d alloc_slack_space=%llu slack_space=0\n",
         THREADS * N, slack[0]);
  printf("102 temporary_objects=%d in_place=%d moved=0\n", THREADS * N,
         THREADS * N);
  printf("97 temporary_objects=%d in_place=0\n", THREADS * N);

  run_two(give, take);
  printf("103 temporary_objects=0\n");

  handed = malloc(104);
  sem_post(&turn[0]);
  run(RING, pass_on, turn, sizeof(turn[0]));
  free(handed);
  printf("104 temporary_objects=0\n");
  if (same_address < ROUNDS) // else no block could have been mistaken
    return 1;
  same_address = 0;
  sem_wait(&turn[0]); // the last turn of the ring
  run_two(come_back, send_back);
  printf("5000 temporary_objects=%d\n5001 temporary_objects=0\n", ROUNDS);
  return same_address < ROUNDS / 2;
}
