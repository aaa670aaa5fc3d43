// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads make and resume thousands of fibers, some of them deep below
// others, and unmap their stacks, while another thread takes the stacks of all
// threads. New stacks lie where old ones were. MProf never crashes, counts each
// block once, and has one stack for each place.
//
// The test switches stacks by instructions of x86-64.
// REQUIRES: x86_64
// RUN: for flags in -O1 "-O2 -fmprof-unwind=frames"; do \
// RUN:   for kind in LIBCO UCONTEXT; do \
// RUN:     %mprof_clang -fmprof $flags -D$kind -I%src/test/Inputs %s -o %t && \
// RUN:     %run_quiet{heap_rate=1:block_rate=1:mutex_fraction=1:symbolize=0} %t exact && \
// RUN:     %run_quiet{heap_rate=4096:block_rate=1:threads_stop=1:symbolize=0} %t || exit 1; \
// RUN:   done; done

#include "records.h"

#include "fibers.h"

#include <pthread.h>
#include <sys/mman.h>

enum { THREADS = 3, ROUNDS = 60, DEEP = 25, STACK = 32768, LEAF = 1701 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int is_over;
static void *volatile sink;

__attribute__((noinline)) static void leaf(void) {
  free(sink = malloc(LEAF));
  pthread_mutex_lock(&mutex); // may wait, on the stack of a fiber
  __asm__ volatile("");
  pthread_mutex_unlock(&mutex);
}

// Runs a fiber on a new stack, which runs another, and so on.
__attribute__((noinline)) static void work(void *depth) {
  leaf();
  if ((intptr_t)depth > 0) {
    struct fiber f;
    // Stacks of different sizes make later stacks begin elsewhere.
    const size_t size = STACK + 4096 * (size_t)((intptr_t)depth % 3);
    void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    NEED(stack != MAP_FAILED);
    fiber_make(&f, stack, size, work, (void *)((intptr_t)depth - 1));
    fiber_resume(&f);
    NEED(munmap(stack, size) == 0);
  }
  fiber_yield();
}

static void *rounds(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    struct fiber f;
    void *stack = malloc(STACK);
    fiber_make(&f, stack, STACK, work, (void *)(intptr_t)DEEP);
    fiber_resume(&f);
    free(stack);
  }
  return unused;
}

static void *watch(void *unused) {
  static char text[1 << 20];
  while (!is_over)
    mprof_stack(text, sizeof(text), 1);
  return unused;
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t threads[THREADS], watcher;
  NEED(pthread_create(&watcher, NULL, watch, NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    NEED(pthread_create(&threads[i], NULL, rounds, NULL) == 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  is_over = 1;
  pthread_join(watcher, NULL);
  const unsigned long long blocks = THREADS * ROUNDS * (DEEP + 1);
  if (argc > 1)
    EXPECT(LEAF, 1, blocks, blocks);
  else
    CHECK(counted_of(LEAF).buckets == 1);
  return 0;
}
