// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program without MProf that has an allocator of its own keeps it.
// Its blocks are not seen, which mprof run says, and its waits are.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -I%src/test/Inputs %s -o app -pthread
// RUN: %mprof run -o out --block --heap-rate=1 ./app 2> err
// RUN: FileCheck %s < err
// CHECK: note: ./app has an allocator of its own, whose allocations are not seen; {{.*}}mprof-clang -fmprof
// CHECK: delay of ./app
// CHECK: main

#define _GNU_SOURCE
#include "sync-observe.h"

// The blocks of this allocator are odd-sized pieces of an array. Another free
// than this one would end the program.
static char memory[1 << 20] __attribute__((aligned(4096)));
static size_t used;

void *malloc(size_t n) {
  const size_t at =
      __atomic_fetch_add(&used, (n + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  return at + n < sizeof memory ? memory + at : NULL;
}
void free(void *p) {
  if (p && ((char *)p < memory || (char *)p >= memory + sizeof memory))
    _exit(9);
}
void *calloc(size_t n, size_t each) { return malloc(n * each); }
void *realloc(void *old, size_t n) {
  void *p = malloc(n);
  if (p && old)
    memcpy(p, old, n);
  return p;
}

static void *wait_a_bit(void *arg) {
  until_main_waits(NULL, 0);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, wait_a_bit, NULL);
  pthread_join(t, NULL);
  for (int i = 0; i < 100; i++)
    free(strdup("text"));
  return used == 0;
}
