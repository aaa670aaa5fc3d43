// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process may be forked while other threads make sets of labels. The
// child has the existing sets and can make new ones.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{max_labels=65000} timeout 600 %t

#include "waited.h"

#include <sys/wait.h>

enum { MAKERS = 3, FORKS = 200, OF_CHILD = 100 };

static int may_end, made;

static void *make(void *name) {
  char value[600];
  memset(value, 'v', sizeof(value));
  for (int i = 0; !__atomic_load_n(&may_end, __ATOMIC_RELAXED); i++) {
    // Makes sets of many lengths, but never reaches the limit of sets or of
    // memory.
    snprintf(value, sizeof(value), "%*d", i % 500, i % 9000);
    const int error = mprof_label_set(name, value);
    NEED(error == 0);
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static int has(const char *expected) {
  char text[64];
  mprof_labels_text(mprof_labels_get(), text, sizeof(text));
  return strcmp(text, expected) == 0;
}

static void check_child(void) {
  char value[16], expected[64];
  const struct mprof_labels *before = mprof_labels_get(), *sets[OF_CHILD];
  NEED(has("{\"parent\":\"yes\"}"));
  for (int i = 0; i < OF_CHILD; i++) {
    snprintf(value, sizeof(value), "c%d", i);
    NEED(mprof_label_set("child", value) == 0);
    sets[i] = mprof_labels_get();
  }
  for (int i = 0; i < OF_CHILD; i++) {
    mprof_labels_swap(sets[i]);
    snprintf(expected, sizeof(expected),
             "{\"child\":\"c%d\", \"parent\":\"yes\"}", i);
    NEED(has(expected));
  }
  NEED(mprof_label_set("child", NULL) == 0);
  NEED(mprof_labels_get() == before);
}

int main(void) {
  static char names[MAKERS][2] = {"a", "b", "c"};
  pthread_t t[MAKERS];
  for (int i = 0; i < MAKERS; i++)
    NEED(pthread_create(&t[i], NULL, make, names[i]) == 0);
  NEED(mprof_label_set("parent", "yes") == 0);
  while (__atomic_load_n(&made, __ATOMIC_RELAXED) < 100)
    usleep(100);
  for (int i = 0; i < FORKS; i++) {
    const pid_t pid = fork();
    if (pid == 0) {
      check_child();
      _exit(0);
    }
    int status;
    NEED(waitpid(pid, &status, 0) == pid && status == 0);
  }
  __atomic_store_n(&may_end, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < MAKERS; i++)
    NEED(pthread_join(t[i], NULL) == 0);
  return 0;
}
