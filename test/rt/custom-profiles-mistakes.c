// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_profile_new refuses invalid names and names that exist. Calls
// with a handle that is no profile fail with EINVAL. Calls that interrupt the
// profiler, as from a signal handler, fail with EBUSY. mprof_profiles returns
// the sorted names of all profiles that can be written.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run_quiet ./app > names
// RUN: FileCheck %s < names
// RUN: %run_quiet{heapx=1} ./app > names
// RUN: FileCheck %s --check-prefix=HEAPX < names
//
// CHECK: {{^}}Z{{$}}
// CHECK-NEXT: {{^}}allocs{{$}}
// CHECK-NEXT: {{^}}block{{$}}
// CHECK-NEXT: {{^}}cpu{{$}}
// CHECK-NEXT: {{^}}goroutine{{$}}
// CHECK-NEXT: {{^}}goroutineleak{{$}}
// CHECK-NEXT: {{^}}heap{{$}}
// CHECK-NEXT: {{^}}lib.conn-1_x{{$}}
// CHECK-NEXT: {{^}}locks{{$}}
// CHECK-NEXT: {{^}}memory{{$}}
// CHECK-NEXT: {{^}}mmap{{$}}
// CHECK-NEXT: {{^}}mutex{{$}}
// CHECK-NEXT: {{^}}threadcreate{{$}}
// CHECK-NEXT: {{^}}threadleak{{$}}
// CHECK-NEXT: {{^}}threads{{$}}
// HEAPX: {{^}}heapx{{$}}

#include <mprof/mprof.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "records.h"

static void expect_new(const char *name, int error) {
  struct mprof_profile *p = (struct mprof_profile *)name;
  int got = mprof_profile_new(name, &p);
  if (got == error && (p == NULL) == (error != 0) &&
      mprof_profile_lookup(name) == p)
    return;
  fprintf(stderr, "%s: %d, expected %d\n", name ? name : "NULL", got, error);
  exit(1);
}

static struct mprof_profile *of_handler;
static int said;

static void interrupt(const struct mprof_mem_bucket *b, void *arg) {
  (void)b, (void)arg;
  struct mprof_profile *p;
  CHECK(mprof_profile_add(of_handler, 1, 0) == EBUSY);
  CHECK(mprof_profile_remove(of_handler, 1) == EBUSY);
  CHECK(mprof_profile_new("inside", &p) == EBUSY && p == NULL);
  CHECK(mprof_profile_write(of_handler, "inside", 0) == EBUSY);
  CHECK(mprof_profile_count(of_handler) == 0);
  said = 1;
}

static void *volatile sink;

int main(void) {
  static const char *const bad[] = {
      "",    "1",   "2.heap",      ".x",  "-x",  "a/b", "../x",
      "a b", "a\n", "caf\xc3\xa9", "a%p", "a:b", "a*"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    expect_new(bad[i], EINVAL);
  expect_new(NULL, EINVAL);
  char longest[65];
  memset(longest, 'n', sizeof(longest));
  longest[64] = '\0';
  expect_new(longest, EINVAL);

  static const char *const built_in[] = {"heap",         "allocs",    "heapx",
                                         "block",        "mutex",     "locks",
                                         "threadcreate", "threadleak"};
  for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
    struct mprof_profile *p;
    CHECK(mprof_profile_new(built_in[i], &p) == EEXIST && p == NULL);
    CHECK(mprof_profile_lookup(built_in[i]) == NULL);
  }

  expect_new("lib.conn-1_x", 0);
  expect_new("Z", 0);
  struct mprof_profile *again = (void *)&again;
  CHECK(mprof_profile_new("Z", &again) == EEXIST && again == NULL);

  const char *names[80];
  size_t n = 0;
  CHECK_EQ(mprof_profiles(names, 80, NULL), EINVAL);
  CHECK_EQ(mprof_profiles(NULL, 80, &n), EINVAL);
  CHECK(mprof_profiles(NULL, 0, &n) == ERANGE && n >= 7);
  CHECK(mprof_profiles(names, n - 1, &n) == ERANGE);
  CHECK(mprof_profiles(names, n, &n) == 0);
  for (size_t i = 0; i < n; i++) {
    puts(names[i]);
    CHECK(mprof_write_profile(names[i], "out", (int)(i & 1)) == 0);
  }

  // Handles that are no profile: NULL, and addresses of other objects.
  struct mprof_profile *const none[] = {
      NULL, (void *)names, (void *)((char *)mprof_profile_lookup("Z") + 8),
      (void *)((char *)mprof_profile_lookup("Z") + 4096)};
  for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
    CHECK(mprof_profile_add(none[i], 1, 0) == EINVAL);
    CHECK(mprof_profile_remove(none[i], 1) == EINVAL);
    CHECK(mprof_profile_count(none[i]) == 0);
    CHECK(mprof_profile_write(none[i], "out", 0) == EINVAL);
  }
  CHECK(mprof_profile_add(mprof_profile_lookup("Z"), 1, -1) == EINVAL);
  CHECK(mprof_write_profile("z", "out", 0) == EINVAL);

  mprof_set_heap_rate(1);
  sink = malloc(10);
  mprof_next_cycle();
  of_handler = mprof_profile_lookup("Z");
  mprof_iterate_mem(interrupt, NULL);
  CHECK(said);

  longest[63] = '\0';
  expect_new(longest, 0);
  char name[8] = "n..";
  for (int i = 3; i < 64; i++) {
    name[1] = (char)('0' + i / 8);
    name[2] = (char)('0' + i % 8);
    expect_new(name, 0);
  }
  struct mprof_profile *p;
  CHECK(mprof_profile_new("one-more", &p) == ENOSPC && p == NULL);
  CHECK(mprof_profile_add(mprof_profile_lookup("n77"), 1, 0) == 0);
  return 0;
}
