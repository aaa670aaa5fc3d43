// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a library's fork handler allocates in the child before the runtime's
// own fork handler runs, because the library was loaded first. The allocations
// do not wait for a lock that another thread of the parent held at the fork.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -shared -fPIC -DLIBRARY %s -o lib.so
// RUN: %mprof_clang -fmprof -O1 %s ./lib.so -o app
// RUN: %run_quiet{heap_rate=1} timeout 600 ./app

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;

#ifdef LIBRARY

static void in_child(void) {
  for (size_t i = 0; i < 64; i++)
    sink = malloc(17 + i * 977);
}
__attribute__((constructor)) static void begin(void) {
  pthread_atfork(NULL, NULL, in_child);
}
void be_linked(void) {}

#else

extern void be_linked(void);

// Allocates blocks of new sizes, which need new buckets and so take their lock.
static void *churn(void *first) {
  for (size_t n = (size_t)first;; n++) {
    void *p = malloc(n % 2000000 + 1);
    sink = p;
    free(p);
  }
  return NULL;
}

int main(void) {
  pthread_t t;
  be_linked();
  for (size_t i = 0; i < 3; i++)
    pthread_create(&t, NULL, churn, (void *)(i * 600000));
  const int forks = getenv("MPROF_TEST_EMULATED") == NULL ? 300 : 20;
  for (int i = 0; i < forks; i++) {
    pid_t child = fork();
    int status;
    if (child == 0)
      _exit(0);
    if (waitpid(child, &status, 0) != child || status != 0)
      _exit(1);
  }
  _exit(0);
}
#endif
