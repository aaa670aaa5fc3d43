// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread begins with the labels that its creator had at that time,
// for each way to create a thread. This does not depend on the threadcreate
// profile. Changes of a thread's labels affect only this thread. A forked child
// and its threads have the labels, too.
//
// RUN: %mprof_clangxx -fmprof -O1 -pthread -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t
// RUN: %run_quiet{threadcreate=0} %t
// RUN: %run_quiet{follow_fork=0} %t no-children

#include "records.h"

#include <cstring>
#include <future>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <threads.h>
#include <unistd.h>

// Returns the labels that the thread began with, and changes them.
static const struct mprof_labels *take() {
  const struct mprof_labels *found = mprof_labels_get();
  CHECK(mprof_label_set("own", "x") == 0);
  CHECK(mprof_labels_get() != found);
  return found;
}
static const struct mprof_labels *found_in_c11;
static int c11(void *) {
  found_in_c11 = take();
  return 0;
}
static void *posix(void *) { return (void *)take(); }

static void check(const struct mprof_labels *expected) {
  pthread_t t;
  void *result;
  CHECK(pthread_create(&t, NULL, posix, NULL) == 0);
  CHECK(pthread_join(t, &result) == 0);
  CHECK(result == expected);

  thrd_t u;
  CHECK(thrd_create(&u, c11, NULL) == thrd_success);
  CHECK(thrd_join(u, NULL) == thrd_success);
  CHECK(found_in_c11 == expected);

  const struct mprof_labels *found = NULL;
  std::thread v([&] { found = take(); });
  v.join();
  CHECK(found == expected);
  CHECK(std::async(std::launch::async, take).get() == expected);
  CHECK(mprof_labels_get() == expected);
}

static pthread_barrier_t barrier;
static void *late(void *) {
  pthread_barrier_wait(&barrier);
  return (void *)take();
}

int main(int argc, char **) {
  check(NULL);
  CHECK(mprof_label_set("request", "7") == 0);
  const struct mprof_labels *seven = mprof_labels_get();
  check(seven);

  pthread_t t;
  void *result;
  pthread_barrier_init(&barrier, NULL, 2);
  CHECK(pthread_create(&t, NULL, late, NULL) == 0);
  CHECK(mprof_label_set("request", "8") == 0);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(t, &result) == 0);
  CHECK(result == seven);

  const struct mprof_labels *eight = mprof_labels_get();
  pid_t pid = fork();
  if (pid == 0) {
    CHECK(mprof_labels_get() == eight);
    if (argc == 1) {
      check(eight);
      CHECK(mprof_label_set("request", "7") == 0);
      CHECK(mprof_labels_get() == seven);
      CHECK(mprof_label_set("request", "child's") == 0);
    } else {
      CHECK(mprof_label_set("request", "7") == ENOSYS);
    }
    char text[64];
    mprof_labels_text(mprof_labels_swap(seven), text, sizeof(text));
    CHECK(strcmp(text, argc == 1 ? "{\"request\":\"child's\"}"
                                 : "{\"request\":\"8\"}") == 0);
    _exit(0);
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  CHECK(mprof_labels_get() == eight);
  return 0;
}
