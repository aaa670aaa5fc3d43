// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the wall profile is right while threads begin and end all the time,
// wait, compute, and fork. No system call of the program ends with EINTR. A
// forked child has a profile of its own, without the samples of its parent, and
// with the rate of the option.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -lpthread -o app
// RUN: %run{wall_rate=100:log_path=out.%%p} ./app
// RUN: %mprof top -n 0 parent.pb.gz | grep ' lives_short '
// RUN: %mprof top -n 0 child.pb.gz > child.txt && grep ' in_child ' child.txt
// RUN: not grep lives_short child.txt

#define _GNU_SOURCE
#include "wall_profile.h"

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_bool must_end;

static void nap(long ns) {
  struct timespec t = {.tv_nsec = ns};
  CHECK_EQ(nanosleep(&t, NULL), 0);
}

__attribute__((noinline)) static void *lives_short(void *arg) {
  for (atomic_int i = 0; i < 10000; i++)
    ;
  nap(100000);
  return arg;
}

static void *creates(void *arg) {
  pthread_t t[4];
  while (!atomic_load(&must_end)) {
    for (int i = 0; i < 4; i++)
      CHECK_EQ(pthread_create(&t[i], NULL, lives_short, NULL), 0);
    for (int i = 0; i < 4; i++)
      CHECK_EQ(pthread_join(t[i], NULL), 0);
  }
  return arg;
}

__attribute__((noinline)) static void in_child(void) {
  while (wall_samples() < 5)
    nap(1000000);
}

int main(void) {
  pthread_t t[3];
  int status;
  for (int i = 0; i < 3; i++)
    CHECK_EQ(pthread_create(&t[i], NULL, creates, NULL), 0);
  while (wall_samples() < 300)
    nap(1000000);
  const pid_t child = fork();
  if (child == 0) {
    in_child();
    CHECK_EQ(mprof_write_profile("wall", "child.pb.gz", 0), 0);
    _exit(0);
  }
  CHECK(child > 0);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  atomic_store(&must_end, 1);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(pthread_join(t[i], NULL), 0);
  CHECK_EQ(mprof_write_profile("wall", "parent.pb.gz", 0), 0);
  return 0;
}
