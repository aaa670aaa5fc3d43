// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the search for a free number asks at most 42 times whether a number
// is taken, however many numbers are taken. If the taken numbers have no gaps,
// the search returns the next number. If there are gaps, it returns any free
// number.
//
// RUN: %unit -D_GNU_SOURCE %s %rt/sys/sort.c -o %t && %t

#include "check.h"

#include "sys/sort.h"

enum { MAX = 1000000 };

static bool taken[MAX + 1];
static unsigned questions;

static bool is_taken(void *arg, unsigned number) {
  CHECK(arg == taken);
  CHECK(number >= 1 && number <= MAX);
  questions++;
  return taken[number];
}

static unsigned find(unsigned first) {
  questions = 0;
  unsigned n = mprof_free_number(first, MAX, is_taken, taken);
  CHECK(questions <= 42);
  return n;
}

int main(void) {
  for (unsigned n = 1; n <= 3000; n++) { // n - 1 numbers are taken
    CHECK_EQ(find(1), n);
    CHECK(questions <= 2 * (32 - __builtin_clz(n)));
    CHECK_EQ(find(n), n);
    CHECK_EQ(questions, 1);
    CHECK_EQ(find(n + 1), n + 1);
    if (n > 5)
      CHECK_EQ(find(n - 5), n);
    taken[n] = true;
  }
  unsigned x = 1;
  for (unsigned round = 0; round < 3000; round++) { // with gaps
    x = x * 1103515245 + 12345;
    taken[1 + x / 65536 % 3000] = false;
    unsigned n = find(1);
    CHECK(n <= 3001 && !taken[n]);
  }
  for (unsigned n = 1; n <= MAX; n++) {
    taken[n] = true;
    if (n == 99999 || n == 500000 || n == MAX - 2)
      CHECK_EQ(find(1), n + 1);
  }
  CHECK_EQ(find(1), MAX);
  CHECK_EQ(find(MAX), MAX);
  return 0;
}
