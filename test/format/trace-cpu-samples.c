// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with cpu_rate, a trace also has the samples of the CPU profile, each
// at its time, with its thread and stack. Readers of Go and of MProf accept it.
// (Go: TestTraceCPUProfile)
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=x:trace=1:cpu_rate=200} ./app
// RUN: mv x.*.trace x.trace
// RUN: %trace_check -q x.trace
// RUN: %trace_print x.trace | FileCheck %s
// RUN: %mprof trace json x.trace -o x.json
// RUN: grep -q '"CPU sample"' x.json
// RUN: %mprof html x.trace -o x.html
//
// CHECK-DAG: main: CPUSample at {{(.* < )?}}in_main < main
// CHECK-DAG: work: CPUSample at {{(.* < )?}}in_thread < work

#include <pthread.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(in_main)
BURNER(in_thread)

static void *work(void *unused) {
  in_thread(200);
  return unused;
}

int main(void) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, work, NULL) == 0);
  in_main(200);
  NEED(pthread_join(t, NULL) == 0);
  return 0;
}
