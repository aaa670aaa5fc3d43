// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a forked child's heapx profile starts empty and counts the child's
// own events. A block that the parent allocated last is not temporary if the
// child frees it. The parent's profile does not change.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 %s -o app
// RUN: %run{heap_rate=1:heapx=1:log_path=p:report=0} ./app
// RUN: ls truth.* | wc -l | grep -qx 2
// RUN: for t in truth.*; do \
// RUN:   %python %src/test/Inputs/compare_heapx.py p.${t#truth.}.heapx.pb.gz $t \
// RUN:     || exit 1; done

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile a, *volatile last;

static void make(int n) {
  for (int i = 0; i < n; i++) {
    a = malloc(101);
    free(a);
    a = realloc(malloc(102), 97);
    free(a);
  }
}

static int say(int n, int of_last) {
  char name[40];
  snprintf(name, sizeof(name), "truth.%d", (int)getpid());
  FILE *f = fopen(name, "w");
  return !f ||
         fprintf(f,
                 "101 temporary_objects=%d slack_space=0\n"
                 "102 in_place=%d slack_space=0\n"
                 "103 temporary_objects=%d slack_space=0\n",
                 n, n, of_last) < 0 ||
         fclose(f) != 0;
}

int main(void) {
  make(1000);
  last = malloc(103);
  pid_t child = fork();
  free(last);
  if (child == 0) {
    make(200);
    return say(200, 0);
  }
  int status;
  make(30);
  if (waitpid(child, &status, 0) != child || status != 0)
    return 1;
  return say(1030, 1);
}
