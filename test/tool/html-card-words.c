// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the cards of mprof html name values and parts of the memory in the
// words of people, with a noun behind each number.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:heapx=1:mmap=1:memory=1:log_path=p:report=0} ./app
// RUN: %build/bin/mprof html . -o page.html
// RUN: %python %S/Inputs/browser.py text all page.html#all \
// RUN:   | grep Overview: > cards
// RUN: FileCheck %s < cards
// CHECK-DAG: Resident memory{{.*}}code of the program and its libraries
// CHECK-DAG: Temporary blocks50 temporary blocks in total.
// CHECK-DAG: Mapped memory in use{{[0-9.]+ MiB}} in use.
// RUN: not grep -E '[a-z]+_(space|objects)|module code|heapx' cards

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
  for (int i = 0; i < 50; i++) {
    char *volatile block = malloc(100);
    block[0] = 1;
    free(block);
  }
  char *p = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return 1;
  memset(p, 1, 4 << 20);
}
