// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof run --cpu profiles a program that was built without MProf and
// without frame pointers, also in signal handlers. MProf shows
// the largest functions.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -g1 -fomit-frame-pointer %s -o app
// RUN: %mprof run --cpu -o out ./app > truth 2> said
// RUN: %python %src/test/Inputs/cpu_check.py out/*.cpu.pb.gz truth
// RUN: FileCheck %s < said
//
// CHECK:      cpu of ./app
// CHECK-NEXT: cpu share {{.*}} function
// CHECK:      ms {{.*}} % {{ *}}burn cpu_work.h

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(hot)
BURNER(in_handler)

static void on_signal(int sig) {
  (void)sig;
  in_handler(300);
}

static void *work(void *unused) {
  hot(200);
  return unused;
}

int main(void) {
  enum { BYTES = 16384 };
  pthread_t t;
  const stack_t small = {.ss_sp = malloc(BYTES), .ss_size = BYTES};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  NEED(sigaltstack(&small, NULL) == 0);
  NEED(sigaction(SIGUSR1, &action, NULL) == 0);
  NEED(pthread_create(&t, NULL, work, NULL) == 0);
  hot(300);
  NEED(raise(SIGUSR1) == 0);
  NEED(pthread_join(t, NULL) == 0);
  PRINT_TRUTH(hot);
  PRINT_TRUTH(in_handler);
  print_total();
  return 0;
}
