// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the threadcreate profile has the first thread and the calling thread
// even if MProf has seen no event of them. The same holds in a forked child. A
// first thread that has ended is not in the profile.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O1 -I%src/test/Inputs %s -c -o main.o
// RUN: %clang -O1 -DUNINSTRUMENTED %s -c -o create.o
// RUN: %mprof_clang -fmprof -fno-mprof-intercept main.o create.o -o app
// RUN: %run_quiet ./app
// RUN: %run_quiet{threadcreate=0} ./app

#ifndef UNINSTRUMENTED
#define CHECK_EXIT _exit
#include "waited.h"
#endif

#include <pthread.h>

pthread_t create_unseen(void *(*fn)(void *));

#ifdef UNINSTRUMENTED

pthread_t create_unseen(void *(*fn)(void *)) {
  pthread_t t;
  return pthread_create(&t, NULL, fn, NULL) == 0 ? t : 0;
}

#else

#include <sys/wait.h>

static void check_profile(size_t threads) {
  struct mprof_stack_record r[4];
  size_t n;
  CHECK_EQ(mprof_thread_create_profile(NULL, 0, &n), ERANGE);
  CHECK_EQ(n, threads);
  CHECK_EQ(mprof_thread_create_profile(r, 4, &n), 0);
  CHECK_EQ(n, threads);
  for (size_t i = 0; i < n; i++)
    CHECK(r[i].stack0[0] == 0);
}

static void check_in_child(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    check_profile(1);
    _exit(0);
  }
  NEED(child > 0 && waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
}

static void *check_in_thread(void *arg) {
  check_profile(2);
  check_in_child();
  return arg;
}

static pthread_t first;

// A thread can be joined shortly before the kernel says that it has ended.
static int has_ended(void) {
  char text[256], *state;
  FILE *f = fopen("/proc/self/status", "r");
  NEED(f != NULL);
  text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
  fclose(f);
  NEED((state = strstr(text, "State:\t")) != NULL);
  return strchr("ZX", state[7]) != NULL;
}

static void *check_alone(void *arg) {
  NEED(pthread_join(first, NULL) == 0);
  while (!has_ended())
    usleep(1000);
  check_profile(1);
  _exit(0);
  return arg;
}

int main(void) {
  check_profile(1);
  check_in_child();
  pthread_t t = create_unseen(check_in_thread);
  NEED(t != 0 && pthread_join(t, NULL) == 0);
  first = pthread_self();
  NEED(create_unseen(check_alone) != 0);
  pthread_exit(NULL);
}

#endif
