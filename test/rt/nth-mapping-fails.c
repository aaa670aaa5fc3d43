// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the system refuses one of the runtime's requests for memory,
// whichever it is. The program still runs to its end and computes the right
// result. MProf prints its message at exit.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: for n in $(seq 1 40); do \
// RUN:   %run{heap_rate=1:symbolize=0} FAIL_AT=$n ./app \
// RUN:     > out 2> err || exit 1; \
// RUN:   grep -qx "sum 4950000" out || exit 1; \
// RUN:   grep -q "^mprof: " err || exit 1; \
// RUN: done

#include <stdio.h>
#include <stdlib.h>

extern void mprof_os_fail_map(int n);

// Runs before the runtime's constructor requests any memory.
static void arm(void) {
  const char *n = getenv("FAIL_AT");
  mprof_os_fail_map(n ? atoi(n) : 0);
}
__attribute__((section(".preinit_array"), used)) static void (*at)(void) = arm;

static void *volatile sink;

int main(void) {
  long sum = 0;
  for (int k = 0; k < 1000; k++)
    for (int i = 0; i < 100; i++) {
      int *p = malloc(sizeof(int) * (size_t)(i + k + 1));
      sink = p;
      *p = i;
      sum += *p;
      free(p);
    }
  printf("sum %ld\n", sum);
  return 0;
}
