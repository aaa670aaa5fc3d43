// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process looks up the names of an address once. Later profiles and
// stacks with these addresses show the same names without starting mprof.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -g -O1 -I%src/test/Inputs %s -o app
// RUN: printf '#!/bin/sh\necho >> starts\nexec %build/bin/mprof "$@"\n' > mprof
// RUN: chmod +x mprof
// RUN: %run_quiet{heap_rate=1:symbolizer_cache=0:external_symbolizer_path=$PWD/mprof} ./app
// RUN: for i in 1 2 3; do zcat $i.pb.gz | grep -a -c make_one; done > named
// RUN: printf '1\n1\n1\n' | cmp - named
// RUN: wc -l < starts | grep -x 2

#include "check.h"

#include <mprof/mprof.h>

#include <stdlib.h>
#include <string.h>

static void *volatile sink;

__attribute__((noinline)) static void make_one(void) { sink = malloc(300000); }

static void print_stack(char *buf, size_t size) {
  CHECK(mprof_stack(buf, size, 0) > 0);
  CHECK(strstr(buf, "print_stack\n\t") != NULL);
  CHECK(strstr(buf, "symbolize-asks-once.c:") != NULL);
}

int main(void) {
  static char names[][16] = {"1.pb.gz", "2.pb.gz", "3.pb.gz"};
  static char first[4096], later[4096];
  make_one();
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(mprof_write_profile("heap", names[i], 0), 0);
    print_stack(i == 0 ? first : later, sizeof(first));
    CHECK(i == 0 || strcmp(first, later) == 0);
  }
  return 0;
}
