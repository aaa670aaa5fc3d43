// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a spin lock that a thread releases between mprof_stop and the next
// mprof_start is not held any more, so it is in no cycle of locks. A cycle of
// locks that are taken after the start is found.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O1 -g -I%src/include %s -o app -pthread -ldl
// RUN: ./app %preload false && ./app %preload true
// RUN: %mprof traces false.2.*.lockorder.pb.gz | FileCheck %s --check-prefix=NONE
// RUN: %mprof traces true.2.*.lockorder.pb.gz | FileCheck %s
// NONE: {{^}}0 in total
// CHECK: takes_mutex_under_spin

#include <dlfcn.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;

#define NOINLINE __attribute__((noinline))

NOINLINE static void takes_mutex(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  __asm__ volatile("" ::: "memory");
}

static void *takes_spin_under_mutex(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_spin_lock(&spin);
  pthread_spin_unlock(&spin);
  pthread_mutex_unlock(&mutex);
  return unused;
}

NOINLINE static void takes_mutex_under_spin(void) {
  pthread_spin_lock(&spin);
  takes_mutex();
  pthread_spin_unlock(&spin);
}

int main(int argc, char **argv) {
  char options[64];
  pthread_t thread;
  if (argc < 3)
    return 1;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL)
    return puts(dlerror()), 1;
  int (*start)(const char *) =
      (int (*)(const char *))dlsym(library, "mprof_start");
  int (*stop)(void) = (int (*)(void))dlsym(library, "mprof_stop");
  snprintf(options, sizeof(options), "lock_order=1:log_path=%s", argv[2]);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  if (start(options) != 0)
    return 1;
  pthread_spin_lock(&spin);
  if (stop() != 0)
    return 1;
  pthread_spin_unlock(&spin);
  snprintf(options, sizeof(options), "log_path=%s.2", argv[2]);
  if (start(options) != 0)
    return 1;
  takes_mutex();
  pthread_create(&thread, NULL, takes_spin_under_mutex, NULL);
  pthread_join(thread, NULL);
  if (strcmp(argv[2], "true") == 0)
    takes_mutex_under_spin();
  return stop();
}
