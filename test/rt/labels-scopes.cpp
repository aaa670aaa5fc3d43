// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: labels that a scope adds are gone after the scope, however the
// program leaves it. The scope may be left at its end, by return, break, goto
// or an exception, or by cancellation of the thread. If longjmp leaves a scope,
// its labels stay until the end of the scope around it.
//
// RUN: %mprof_clangxx -fmprof -O0 -pthread -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t
// RUN: %mprof_clangxx -fmprof -std=c++11 -O2 -pthread -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t
// RUN: %mprof_clang -x c -fmprof -O2 -fexceptions -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t

#include "records.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>

static int has(const char *expected) {
  char text[256];
  mprof_labels_text(mprof_labels_get(), text, sizeof(text));
  return strcmp(text, expected) == 0;
}

static const char *const inner[] = {"b", "2", NULL};
static jmp_buf out;

enum how { RETURNS, JUMPS, THROWS, IS_CANCELLED };

static void leave(void *how) {
  CHECK(how == (void *)JUMPS || has("{\"a\":\"1\", \"b\":\"2\"}"));
  CHECK(mprof_label_set("of", "its own") == 0);
  if (how == (void *)JUMPS)
    longjmp(out, 1);
#ifdef __cplusplus
  if (how == (void *)THROWS)
    throw 7;
#endif
  if (how == (void *)IS_CANCELLED)
    for (;;)
      pause();
}

static int in_scope(enum how how) {
  MPROF_LABELS("a", "0", "a", "1");
  MPROF_LABELS("b", "2");
  leave((void *)how);
  return 1;
}

static void in_call(void *how) {
  mprof_labels_with(inner, leave, how);
  CHECK(has("{\"a\":\"1\"}"));
}

static const char *const outer[] = {"a", "1", NULL};

#ifdef __cplusplus
static void check_exceptions() {
  int caught = 0;
  try {
    in_scope(THROWS);
  } catch (int) {
    caught++;
    CHECK(has("{}"));
  }
  try {
    mprof_labels_with(outer, in_call, (void *)THROWS);
  } catch (int) {
    caught++;
    CHECK(has("{}"));
  }
  CHECK(caught == 2);
}
#endif

static int found_at_end;
static void look(void *arg) {
  (void)arg;
  found_at_end += has("{}");
}

static void *cancelled(void *by_call) {
  pthread_cleanup_push(look, NULL);
  if (by_call)
    mprof_labels_with(outer, in_call, (void *)IS_CANCELLED);
  else
    in_scope(IS_CANCELLED);
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancel(void *by_call) {
  pthread_t t;
  void *result;
  CHECK(pthread_create(&t, NULL, cancelled, by_call) == 0);
  CHECK(pthread_cancel(t) == 0);
  CHECK(pthread_join(t, &result) == 0);
  CHECK(result == PTHREAD_CANCELED);
}

int main(void) {
  {
    MPROF_LABELS("x", "z");
    CHECK(has("{\"x\":\"z\"}"));
    MPROF_LABELS("x", "in the same block");
    CHECK(has("{\"x\":\"in the same block\"}"));
  }
  CHECK(has("{}"));
  for (int i = 0; i < 3; i++) {
    MPROF_LABELS("i", "j");
    CHECK(has("{\"i\":\"j\"}"));
    if (i == 1)
      break;
  }
  CHECK(has("{}"));
  {
    MPROF_LABELS("x", "y");
    goto end;
  }
end:
  CHECK(has("{}"));

  CHECK(in_scope(RETURNS) == 1);
  CHECK(has("{}"));
  mprof_labels_with(outer, in_call, (void *)RETURNS);
  CHECK(has("{}"));

  MPROF_LABELS("around", "all");
  const struct mprof_labels *all = mprof_labels_get();
  {
    MPROF_LABELS("x", "y");
    if (setjmp(out) == 0)
      mprof_labels_with(outer, in_call, (void *)JUMPS);
    CHECK(has("{\"a\":\"1\", \"around\":\"all\", \"b\":\"2\", "
              "\"of\":\"its own\", \"x\":\"y\"}"));
  }
  CHECK(mprof_labels_get() == all);
  mprof_labels_swap(NULL);
#ifdef __cplusplus
  check_exceptions();
#endif
  cancel(NULL);
  cancel((void *)1);
#ifdef __GLIBC__
  CHECK(found_at_end == 2);
#else // on musl cancellation does not leave scopes
  CHECK(found_at_end == 0);
#endif
  return 0;
}
