// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof threads PID names code that a process without MProf has made at
// run time, by the map below the root directory of the process.
//
// REQUIRES: x86_64
// UNSUPPORTED: emulated
// RUN: %gcc -O1 -g -fomit-frame-pointer -I%S/../preload/Inputs %s -o %t
// RUN: %python -B %S/Inputs/while_it_runs.py %t %mprof threads | FileCheck %s
// CHECK: sleeps {{.*}}threads-in-jit-code.c
// CHECK-NEXT: {{^ *}}work app.js:12{{$}}
// CHECK-NEXT: main {{.*}}threads-in-jit-code.c

#include "jit.h"

static char path[64];

static void sleeps(void) {
  puts("ready");
  fflush(stdout);
  getchar(); // until the threads were read
  puts("alive");
  remove(path);
}

int main(void) {
  made *f = make(with_frame_pointer);
  snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
  FILE *map = fopen(path, "w");
  fprintf(map, "%zx %x JS:*work /x/app.js:12:3\n", (size_t)f, MADE_BYTES);
  fclose(map);
  f(sleeps);
  __asm__ volatile("" ::: "memory");
  return outer == NULL;
}
