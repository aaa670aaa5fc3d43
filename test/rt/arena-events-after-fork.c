// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a forked child forgets the blocks of its parent's arenas and counts
// only its own blocks. This also holds if another thread of the parent reports
// blocks of the arena during the fork.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -lpthread -o %t
// RUN: %run_quiet{heap_rate=1} %t

#include "records.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 50 };
static char kept[100], busy[1000];

static void *work(void *arg) {
  while (!__atomic_load_n((int *)arg, __ATOMIC_RELAXED)) {
    for (int i = 0; i < 1000; i += 10)
      mprof_arena_alloc_event(kept, busy + i, 33);
    for (int i = 0; i < 1000; i += 10)
      mprof_free_event(busy + i);
  }
  return NULL;
}

static int child(void) {
  mprof_arena_reset(kept);
  EXPECT(77, 0, 0, 0);
  mprof_arena_alloc_event(kept, kept + 16, 77);
  mprof_arena_alloc_event(kept, kept + 20, 77);
  mprof_free_event(kept + 20);
  EXPECT(77, 2, 2, 1);
  mprof_arena_reset(kept);
  EXPECT(77, 2, 2, 2);
  return 0;
}

int main(void) {
  int is_done = 0;
  pthread_t thread;
  mprof_arena_alloc_event(kept, kept, 77);
  mprof_arena_alloc_event(kept, kept + 4, 77);
  pthread_create(&thread, NULL, work, &is_done);
  for (int i = 0; i < CHILDREN; i++) {
    pid_t pid = fork();
    if (pid == 0)
      _exit(child());
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  __atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  EXPECT(77, 2, 2, 0);
  mprof_arena_reset(kept);
  EXPECT(77, 2, 2, 2);
  return 0;
}
