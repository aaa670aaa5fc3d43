// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program without MProf, no thread waits for the dynamic linker
// because of the preloaded library. One thread loads and unloads a library
// whose constructor takes a lock and allocates. Meanwhile other threads hold
// this lock and allocate, create threads and load libraries, and the process
// forks. All of them come to their end, although every event is recorded.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -fno-builtin -shared -fPIC -DLIBRARY %s -o library.so
// RUN: %clang -O1 -fno-builtin -rdynamic %s -o app -pthread
// RUN: timeout 600 %run{heap_rate=1:block_rate=1:mutex_fraction=1:block_kinds=all:children_keep=1:log_path=x} \
// RUN:   LD_PRELOAD=%preload ./app

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void enter(void);
void leave(void);

#ifdef LIBRARY
static void *kept;
__attribute__((constructor)) static void at_load(void) {
  enter();
  kept = malloc(100);
  leave();
}
__attribute__((destructor)) static void at_unload(void) {
  enter();
  free(kept);
  leave();
}
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

void enter(void) { pthread_mutex_lock(&lock); }
void leave(void) { pthread_mutex_unlock(&lock); }

enum { ROUNDS = 60 };

static void *load(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    void *library = dlopen("./library.so", RTLD_NOW);
    if (!library)
      abort();
    dlclose(library);
  }
  return arg;
}
static void *nothing(void *arg) { return arg; }
static void *hold(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    pthread_t t;
    enter();
    void *p = malloc(1000 + i);
    pthread_cond_broadcast(&cond);
    if (pthread_create(&t, NULL, nothing, NULL) != 0)
      abort();
    p = realloc(p, 2000);
    usleep(100);
    leave();
    pthread_join(t, NULL);
    free(p);
  }
  return arg;
}

int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, i < 2 ? load : hold, NULL);
  for (int i = 0; i < 10; i++) {
    const pid_t pid = fork();
    if (pid == 0) {
      free(malloc(10));
      _exit(7); // a destructor would wait for a lock of another thread
    }
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 7)
      return 2;
  }
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  return 0;
}
#endif
