// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program without MProf allocates while a thread begins and ends: the
// loader allocates thread-local storage of a library that was opened at run
// time, and destructors of thread-specific data allocate and free. The counts
// are exact.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -shared -fPIC -DLIBRARY %s -o library.so
// RUN: %clang -O1 -g1 -fno-builtin %s -o app -pthread
// RUN: timeout 600 %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: cat x.*.txt | FileCheck %s
// CHECK: Stacks with the most bytes in use
// CHECK: (99,900 bytes) in 100 blocks
// CHECK-NEXT: in at_end {{.*}}thread-storage.c:[[#]]
// CHECK-NOT: in work
// CHECK: Stacks with the most bytes allocated

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef LIBRARY
static __thread char large[100000];
char *storage(void) { return large; }
#else
enum { THREADS = 100 };
static pthread_key_t key;
static char *(*storage)(void);
void *volatile kept[THREADS];
static int count;

static void at_end(void *p) {
  free(p);
  kept[__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED)] = malloc(999);
}
static void *work(void *arg) {
  storage()[99] = 1;
  pthread_setspecific(key, malloc(500));
  return arg;
}

int main(void) {
  void *library = dlopen("./library.so", RTLD_NOW);
  if (!library || pthread_key_create(&key, at_end) != 0)
    return 1;
  storage = (char *(*)(void))dlsym(library, "storage");
  for (int i = 0; i < THREADS; i++) {
    pthread_t t;
    if (pthread_create(&t, NULL, work, NULL) != 0)
      return 2;
    pthread_join(t, NULL);
  }
  return 0;
}
#endif
