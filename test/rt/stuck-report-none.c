// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process that the option stuck_report has watched says once at exit
// that it found no thread that was stuck for so long, also if it writes no
// file. A forked child, a process without the option and a process with the
// option quiet do not. With stuck=1, the line that names the files has the
// number.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{stuck_report=1} ./app 2>&1 | tee out | FileCheck %s
// RUN: grep -c 'thread that was stuck' out | grep -x 1
// RUN: %run{stuck_report=1:heap_rate=1} ./app 2>&1 | FileCheck %s
// RUN: %run{stuck_report=1:quiet=1} ./app 2>&1 | not grep stuck
// RUN: %run{heap_rate=1} ./app 2>&1 | not grep stuck
// RUN: %run{stuck=1:stuck_report=1} ./app 2>&1 | FileCheck %s --check-prefix=BOTH
//
// CHECK: mprof: wrote
// CHECK: mprof: stuck_report: found no thread that was stuck for 1 s{{$}}
// BOTH-NOT: stuck_report
// BOTH: (0 stuck threads)
// BOTH-NOT: stuck_report

#include "check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

int main(void) {
  kept = malloc(48);
  const pid_t child = fork();
  NEED(child >= 0);
  if (child == 0)
    return 0;
  int status;
  NEED(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
