// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: while the references of a library that is loaded with RTLD_DEEPBIND
// are changed, another thread may be in the middle of a dlopen. The pages of
// that thread's library stay writable for the dynamic linker, and then both
// libraries are counted.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -fPIC -shared -DFIRST %s -o first.so \
// RUN:   -Wl,-z,now,-z,relro
// RUN: %clang -O1 -fPIC -shared -DGATE %s -o libgate.so -Wl,-z,now
// RUN: %clang -O1 -fno-builtin -fPIC -shared -DSECOND %s -o second.so \
// RUN:   -Wl,-z,now,-z,relro,-z,nocombreloc -L. -lgate -Wl,-rpath,%t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -fno-builtin -I%rt %s -o app -rdynamic \
// RUN:   -lpthread -Wl,--whole-archive %rtlib -Wl,--no-whole-archive \
// RUN:   -Wl,--wrap=mprof_module_loads
// RUN: %run{heap_rate=1:log_path=app} ./app 2>&1 | FileCheck %s
// RUN: cat app.*.txt | FileCheck %s --check-prefix=REPORT
//
// CHECK: both are loaded
// CHECK-NOT: incomplete
// REPORT: Stacks with the most bytes allocated
// REPORT-DAG: in first_alloc
// REPORT-DAG: in second_alloc

#if defined(FIRST)
#include <stdlib.h>
__attribute__((noinline)) void *first_alloc(void) {
  void *p = malloc(5000);
  __asm__ volatile("" : "+r"(p)::"memory");
  return p;
}
#elif defined(GATE)
// The dynamic linker calls this function when it relocates second.so.
void app_waits_in_dlopen(void);
static void gate_function(void) {}
static void (*resolve(void))(void) {
  app_waits_in_dlopen();
  return gate_function;
}
void gate(void) __attribute__((ifunc("resolve")));
#elif defined(SECOND)
#include <stdlib.h>
#include <unistd.h>
void gate(void);
// The order in which the dynamic linker writes the words of this structure.
static const struct {
  void *(*allocate)(size_t);
  void (*pass)(void);
  int (*last)(void);
} functions = {malloc, gate, getppid};
__attribute__((noinline)) void *second_alloc(void) {
  __asm__ volatile("" ::"r"(&functions) : "memory");
  void *p = functions.allocate(6000);
  functions.pass();
  (void)functions.last();
  __asm__ volatile("" : "+r"(p)::"memory");
  return p;
}
#else
#define _GNU_SOURCE
#include "process/modules.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static sem_t is_in_dlopen, may_leave;
static pthread_t main_thread, other;
static int main_calls;
static void *second;

void app_waits_in_dlopen(void) {
  static int is_first = 1;
  if (!is_first)
    return;
  is_first = 0;
  sem_post(&is_in_dlopen);
  while (sem_wait(&may_leave) != 0)
    ;
}

static void *open_second(void *unused) {
  second = dlopen("./second.so", RTLD_NOW | RTLD_DEEPBIND);
  if (!second)
    puts(dlerror());
  return unused;
}

// The main thread calls this function before and after it calls dlopen.
struct mprof_loads __real_mprof_module_loads(void);
struct mprof_loads __wrap_mprof_module_loads(void);
struct mprof_loads __wrap_mprof_module_loads(void) {
  if (main_thread != 0 && pthread_equal(pthread_self(), main_thread) &&
      ++main_calls == 2) {
    if (pthread_create(&other, NULL, open_second, NULL) != 0)
      abort();
    while (sem_wait(&is_in_dlopen) != 0)
      ;
  }
  return __real_mprof_module_loads();
}

static void *volatile kept[2];

int main(void) {
  sem_init(&is_in_dlopen, 0, 0);
  sem_init(&may_leave, 0, 0);
  main_thread = pthread_self();
  void *first = dlopen("./first.so", RTLD_NOW | RTLD_DEEPBIND);
  sem_post(&may_leave);
  if (!first || main_calls < 2 || pthread_join(other, NULL) != 0 || !second)
    return 1;
  kept[0] = ((void *(*)(void))dlsym(first, "first_alloc"))();
  kept[1] = ((void *(*)(void))dlsym(second, "second_alloc"))();
  puts("both are loaded");
  return 0;
}
#endif
