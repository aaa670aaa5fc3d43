// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program's own strdup is called for each copy, if the program is
// linked without MProf's interceptors, also with NULL. A copy by libc's strdup
// comes from libc's malloc, also if the linker has wrapped the program's
// malloc.
//
// RUN: %mprof_clang -fmprof -O2 -DOWN %s -I%src/test/Inputs -c -o %t.own.o
// RUN: %mprof_clang -fmprof -O2 %s -I%src/test/Inputs -c -o %t.o
// RUN: %mprof_clang -fmprof -fno-mprof-intercept %t.o %t.own.o -o %t.own
// RUN: %run_quiet{seed=3} %t.own 1001
// RUN: %mprof_clang -fmprof %t.o -Wl,--wrap=malloc -Wl,--wrap=free \
// RUN:   -o %t.wrapped
// RUN: %run_quiet{seed=3} %t.wrapped 0

// Without the declaration in string.h, which forbids NULL.
#define strdup strdup_of_libc
#include "records.h"

#include <string.h>
#undef strdup
char *strdup(const char *s);

#ifdef OWN

int own_calls;

char *strdup(const char *s) {
  own_calls++;
  if (s == NULL)
    return NULL;
  const size_t n = strlen(s) + 1;
  char *p = malloc(n);
  return p ? memcpy(p, s, n) : NULL;
}

#else

enum { COPIES = 1000 };

__attribute__((weak)) extern int own_calls;
static int wrapped_calls;

void *__real_malloc(size_t size) __attribute__((weak));
void __real_free(void *p) __attribute__((weak));

// The program's malloc when the linker has wrapped it.
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
  wrapped_calls++;
  return __real_malloc(size);
}
void __wrap_free(void *p);
void __wrap_free(void *p) { __real_free(p); }

static void *volatile sink;

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  for (int i = 0; i < COPIES; i++) {
    sink = strdup("a string that is copied");
    CHECK(strcmp(sink, "a string that is copied") == 0);
  }
  if (&own_calls) {
    const char *volatile none = NULL;
    sink = strdup(none);
    CHECK(sink == NULL);
  }
  CHECK_EQ(&own_calls ? own_calls : 0, atoi(argv[1]));
  CHECK_EQ(wrapped_calls, 0);
  return 0;
}

#endif
