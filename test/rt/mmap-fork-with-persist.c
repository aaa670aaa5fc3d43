// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with the option persist, a child runs that is forked while other
// threads of the parent map memory.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g %s -o app -pthread
// RUN: %run{persist=file:log_path=app} ./app

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 60, PAGE = 4096, RW = PROT_READ | PROT_WRITE };
static atomic_bool has_ended;

static void *churn(void *arg) {
  while (!has_ended) {
    char *p = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p + PAGE, PAGE);
    munmap(p, PAGE);
  }
  return arg;
}

int main(void) {
  pthread_t threads[2];
  int bad = 0;
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, churn, NULL);
  for (int i = 0; i < FORKS; i++) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0)
      _exit(0);
    waitpid(child, &status, 0);
    bad += status != 0;
  }
  has_ended = 1;
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return bad != 0;
}
