// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a forked child has a CPU profile of its own, without the samples of
// its parent. The parent's profile goes on, also across vfork and fork while
// other threads run. (Go: TestCPUProfileWithFork)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x:cpu_rate=500} ./app > truths
// RUN: %python %src/test/Inputs/cpu_check.py x.$(cat parent).cpu.pb.gz truths
// RUN: %python %src/test/Inputs/cpu_check.py x.$(cat child).cpu.pb.gz truth
// RUN: %python %src/test/Inputs/mprof_read.py --symbolize \
// RUN:   x.$(cat child).cpu.pb.gz | not grep parent_work

#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

extern char **environ;

BURNER(parent_work)
BURNER(child_work)

static void note(const char *name, long long pid) {
  FILE *f = fopen(name, "w");
  NEED(f != NULL);
  fprintf(f, "%lld\n", pid);
  NEED(fclose(f) == 0);
}

static void *work(void *unused) {
  parent_work(400);
  return unused;
}

int main(void) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, work, NULL) == 0);
  parent_work(200);
  note("parent", getpid());
  const pid_t child = fork();
  NEED(child >= 0);
  if (child == 0) {
    child_work(300);
    note("child", getpid());
    FILE *f = fopen("truth", "w");
    NEED(f != NULL);
    fprintf(f, "child_work %lld\n", (long long)child_work_ns);
    NEED(fclose(f) == 0);
    exit(0);
  }
  char *argv[] = {"true", NULL};
  for (int i = 0; i < 20; i++) {
    pid_t p;
    NEED(posix_spawnp(&p, "true", NULL, NULL, argv, environ) == 0);
    NEED(waitpid(p, NULL, 0) == p);
  }
  int status;
  NEED(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
  NEED(pthread_join(t, NULL) == 0);
  PRINT_TRUTH(parent_work);
  return 0;
}
