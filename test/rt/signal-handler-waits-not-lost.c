// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler that interrupts the runtime makes a blocking call.
// The call is reported as a lost event only if a profile or the trace would
// show the call. With threads=1 the runtime sees each blocking call, but no
// profile counts it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o app
// RUN: %run{threads=1:format=1:log_path=quiet} timeout 600 ./app
// RUN: cat quiet.*.heap.txt | FileCheck %s --check-prefix=NONE
// RUN: %run{threads=1:block_rate=1:block_kinds=all:format=1:log_path=all} \
// RUN:   timeout 600 ./app
// RUN: cat all.*.heap.txt | FileCheck %s --check-prefix=LOST
//
// NONE-NOT: # reentrant = {{[0-9]}}
// LOST: # reentrant = {{[1-9]}}

#include "interrupt_reads.h"

#include <fcntl.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int null;

static void handler(int sig) {
  (void)sig;
  handled += write(null, "x", 1) == 1;
}

int main(void) {
  NEED((null = open("/dev/null", O_WRONLY)) >= 0);
  interrupt_reads(handler, &handled);
  return 0;
}
