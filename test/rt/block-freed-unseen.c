// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with -fno-mprof-intercept, MProf does not see when code without MProf
// frees a block. The block counts as freed when its address is allocated again,
// and the report has the number of such blocks. By default MProf intercepts
// free, and sees the free itself.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -DPLAIN -c %s -o plain.o
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O1 -I%src/test/Inputs %s plain.o -o app
// RUN: %run{heap_rate=1:log_path=out.%%p} ./app
// RUN: grep -q "100 sampled blocks whose free MProf missed" out.*.txt
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s plain.o -DFREES=101 -o all
// RUN: %run{heap_rate=1:log_path=all.%%p} ./all
// RUN: not grep -q "whose free MProf missed" all.*.txt

#ifdef PLAIN
#include <stdlib.h>

void plain_free(void *p) { free(p); }
#else
#include "records.h"

#ifndef FREES
#define FREES 100
#endif

extern void plain_free(void *p);

static void *volatile p;

int main(void) {
  for (int i = 0; i < 101; i++) {
    void *before = p;
    p = malloc(555); // the block that was freed last
    CHECK(i == 0 || p == before);
    plain_free(p);
  }
  EXPECT(555, 1, 101, FREES);
  return 0;
}
#endif
