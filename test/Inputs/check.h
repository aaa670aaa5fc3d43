// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assertions of all tests in C and C++. A failed assertion prints its file,
// line and text, and ends the process with status 1.

#ifndef MPROF_TEST_INPUTS_CHECK_H
#define MPROF_TEST_INPUTS_CHECK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The size in bytes of the smallest stack that libc permits for a thread.
#ifdef __aarch64__
enum { SMALLEST_STACK = 128 << 10 };
#else
enum { SMALLEST_STACK = 16 << 10 };
#endif

// Ends a process whose assertion failed. A test defines it as _exit before this
// header where exit could hang: in handlers and beside threads inside MProf.
#ifndef CHECK_EXIT
#define CHECK_EXIT exit
#endif

// Asserts a property that the test is about.
#define CHECK(cond)                                                            \
  do {                                                                         \
    if (!(cond)) {                                                             \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);       \
      CHECK_EXIT(1);                                                           \
    }                                                                          \
  } while (0)

// Asserts that two integers are equal.
#define CHECK_EQ(a, b)                                                         \
  do {                                                                         \
    long long a_ = (long long)(a), b_ = (long long)(b);                        \
    if (a_ != b_) {                                                            \
      fprintf(stderr, "%s:%d: failed: %s is %lld, not %lld\n", __FILE__,       \
              __LINE__, #a, a_, b_);                                           \
      CHECK_EXIT(1);                                                           \
    }                                                                          \
  } while (0)

// Asserts that two strings are equal.
#define CHECK_STR(a, b)                                                        \
  do {                                                                         \
    const char *a_ = (a), *b_ = (b);                                           \
    if (strcmp(a_, b_) != 0) {                                                 \
      fprintf(stderr, "%s:%d: failed: %s is \"%s\", not \"%s\"\n", __FILE__,   \
              __LINE__, #a, a_, b_);                                           \
      CHECK_EXIT(1);                                                           \
    }                                                                          \
  } while (0)

// Asserts a precondition of the test, such as a thread that was created, and
// prints errno.
#define NEED(cond)                                                             \
  do {                                                                         \
    if (!(cond)) {                                                             \
      fprintf(stderr, "%s:%d: failed: %s (errno: %s)\n", __FILE__, __LINE__,   \
              #cond, strerror(errno));                                         \
      CHECK_EXIT(1);                                                           \
    }                                                                          \
  } while (0)

#endif // MPROF_TEST_INPUTS_CHECK_H
