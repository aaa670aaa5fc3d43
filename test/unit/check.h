// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What unit tests check with: a failure names its place and ends the test.

#ifndef MPROF_TEST_UNIT_CHECK_H
#define MPROF_TEST_UNIT_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(cond)                                                            \
  do {                                                                         \
    if (!(cond)) {                                                             \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);       \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#define CHECK_EQ(a, b)                                                         \
  do {                                                                         \
    long long a_ = (long long)(a), b_ = (long long)(b);                        \
    if (a_ != b_) {                                                            \
      fprintf(stderr, "%s:%d: failed: %s is %lld, not %lld\n", __FILE__,       \
              __LINE__, #a, a_, b_);                                           \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#define CHECK_STR(a, b)                                                        \
  do {                                                                         \
    const char *a_ = (a), *b_ = (b);                                           \
    if (strcmp(a_, b_) != 0) {                                                 \
      fprintf(stderr, "%s:%d: failed: %s is \"%s\", not \"%s\"\n", __FILE__,   \
              __LINE__, #a, a_, b_);                                           \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#endif // MPROF_TEST_UNIT_CHECK_H
