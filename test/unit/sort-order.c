// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime's sort function yields the requested order for arrays of
// 0 to 200 elements, and the order of addresses where it is not requested.
//
// RUN: %unit -D_GNU_SOURCE %s %rt/sys/sort.c -o %t && %t

#include "check.h"

#include "sys/sort.h"

static bool is_greater(const void *a, const void *b) {
  return *(const unsigned *)a > *(const unsigned *)b;
}

int main(void) {
  enum { MAX = 200 };
  unsigned values[MAX], x = 1;
  void *v[MAX];
  for (size_t n = 0; n <= MAX; n++) {
    unsigned long sum = 0, sorted = 0;
    for (size_t i = 0; i < n; i++) {
      x = x * 1103515245 + 12345;
      values[i] = x >> 16 & 63; // some values are equal
      v[i] = &values[i];
      sum += (unsigned long)&values[i];
    }
    mprof_sort(v, n, is_greater);
    for (size_t i = 0; i < n; i++) {
      sorted += (unsigned long)v[i];
      CHECK(i == 0 || is_greater(v[i - 1], v[i]) ||
            (!is_greater(v[i], v[i - 1]) && v[i - 1] < v[i]));
    }
    CHECK(sum == sorted);
  }
  return 0;
}
