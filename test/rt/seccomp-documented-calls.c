// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the table of system calls in the documentation is complete for
// programs that record events, write files, trace, and read the stacks of all
// threads: a seccomp filter that kills the process for every other call does
// not hurt the program.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: list="%python -B %S/Inputs/documented_calls.py %src/docs/processes.md"
// RUN: build="%mprof_clang -fmprof -O1 -pthread -I. -I%src/test/Inputs %s"
// RUN: $list 'recording any event' 'writing files' > calls.h && $build -o app
// RUN: %run{heap_rate=1:block_rate=1:mutex_fraction=1:symbolize=0:log_path=x} ./app
// RUN: ls x.*.heap.pb.gz x.*.block.pb.gz
// RUN: $list 'recording any event' 'writing files' '`trace=1`, `trace_last`' > calls.h
// RUN: $build -o trace && %run{heap_rate=1:trace=1:symbolize=0} ./trace
// RUN: $list 'recording any event' 'writing files' '`threads=1`, `stuck=1`' \
// RUN:   '`stuck=1`, if a thread waits for a condition, a semaphore or a barrier' > calls.h
// RUN: $build -o threads
// RUN: %run{heap_rate=1:threads=1:stuck=1:symbolize=0} ./threads

#include "refuse.h"

#include <pthread.h>
#include <stdlib.h>

static void *volatile sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t begin;

// Waits until the process ends. One of the two threads waits at the barrier, so
// the block profile has a wait.
static void *wait_for_end(void *arg) {
  pthread_mutex_lock(&lock);
  pthread_barrier_wait(&begin);
  for (;;)
    pthread_cond_wait(&never, &lock);
  return arg;
}

static void allow_only_documented_calls(void) {
  enum { LOAD = 1, BEYOND = 2 };
  static const unsigned calls[] = {
#define CALL(name) SYS_##name,
#include "calls.h"
      SYS_brk, SYS_exit_group};
  enum { CALLS = sizeof(calls) / sizeof(calls[0]) };
  struct sock_filter filter[LOAD + CALLS + BEYOND] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (unsigned i = 0; i < CALLS; i++)
    filter[LOAD + i] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, calls[i], (__u8)(CALLS - i), 0);
  filter[LOAD + CALLS] =
      (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  filter[LOAD + CALLS + 1] =
      (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  install_filter(filter, sizeof(filter) / sizeof(filter[0]));
}

int main(void) {
  pthread_t t;
  CHECK(pthread_barrier_init(&begin, NULL, 2) == 0);
  CHECK(pthread_create(&t, NULL, wait_for_end, NULL) == 0);
  pthread_barrier_wait(&begin);
  pthread_mutex_lock(&lock); // the other thread has released it in its wait
  pthread_mutex_unlock(&lock);
  allow_only_documented_calls();
  for (size_t i = 1; i < 1000; i++)
    sink = malloc(i);
  return 0;
}
