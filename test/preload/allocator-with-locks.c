// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an allocator in a library of its own, which takes a lock and finds
// libc's functions by dlsym at its first call, works beneath the preloaded
// library, as jemalloc does. Blocks are counted once, and the allocator's own
// lock needs no allocation.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -shared -fPIC -DALLOCATOR %s -o allocator.so
// RUN: %clang -O1 -fno-builtin %s ./allocator.so -o linked -pthread
// RUN: %clang -O1 -fno-builtin %s -o plain -pthread
// RUN: timeout 600 %run{heap_rate=1:block_rate=1:mutex_fraction=1:log_path=x} \
// RUN:   LD_PRELOAD=%preload ./linked
// RUN: cat x.*.txt | FileCheck %s
// RUN: timeout 600 %run{heap_rate=1:block_rate=1:mutex_fraction=1:log_path=y} \
// RUN:   LD_PRELOAD="%preload $PWD/allocator.so" ./plain
// RUN: cat y.*.txt | FileCheck %s
// CHECK: Stacks with the most bytes in use
// CHECK: 1,000 bytes in 1 block
// CHECK: {{^}}SUMMARY: MProf: 1576 bytes in 3 blocks in use, 201576 bytes in 4003 blocks

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef ALLOCATOR
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);

void *malloc(size_t n) {
  pthread_mutex_lock(&lock);
  if (!next_malloc)
    next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  void *p = next_malloc(n);
  pthread_mutex_unlock(&lock);
  return p;
}
void free(void *p) {
  pthread_mutex_lock(&lock);
  if (!next_free)
    next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
  next_free(p);
  pthread_mutex_unlock(&lock);
}
#else
void *volatile kept;

static void *work(void *arg) {
  for (int i = 0; i < 2000; i++)
    free(malloc(50));
  return arg;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], NULL);
  kept = malloc(1000);
  return 0;
}
#endif
