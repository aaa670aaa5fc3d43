// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof traces --format=sarif writes the cycles of locks, and mprof
// stuck the stuck threads, as a valid SARIF file with the stacks of each step.
// The exit status is 1 if there are any. The fingerprint is the same in each
// run.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I %S/../Inputs %s -o app
// RUN: sarif() { %build/bin/mprof "$@" --format=sarif --source-root=%S/.. > sarif; \
// RUN:   test $? = 1 && %python -B %S/Inputs/check_sarif.py %S/.. < sarif; }
// RUN: mkdir q
// RUN: %run{stuck=1:stuck_report=1:log_path=x.%%p:report=0} ./app stuck
// RUN: sarif stuck x.*.threadleak.pb.gz | FileCheck %s --check-prefix=CHECK-STUCK
// CHECK-STUCK-COUNT-2: error Inputs/deadlock.h:{{[0-9]+}} stuck-thread {{.*}}: 1 thread can never continue, waiting for {{[ab]}} in {{a_then_b|b_then_a}} via pthread_mutex_lock
//
// RUN: %run{lock_order=1:log_path=q/app:report=0} ./app && %run{lock_order=1:log_path=r:report=0} ./app
// RUN: sarif traces --sample=lockorder q > first && FileCheck %s < first
// CHECK: warning Inputs/lock_orders.h:{{[0-9]+}} lock-order {{.*}}: potential deadlock: {{deposit|withdraw}} takes {{from|to}} while its thread holds {{to|from}}; {{withdraw|deposit}} takes {{to|from}} while its thread holds {{from|to}}
// CHECK-NOT: {{.}}
// RUN: FileCheck %s --check-prefix=CHECK-STACKS < sarif
// CHECK-STACKS: "stacks": [
// CHECK-STACKS-COUNT-4: {"message": {"text": "{{holds|takes}} {{from|to}}"}, "frames": [
// CHECK-STACKS: "codeFlows": [{"threadFlows": [
// CHECK-STACKS: main
// CHECK-STACKS: "message": {"text": "{{deposit|withdraw}} via pthread_mutex_lock holds {{from|to}}"}
// CHECK-STACKS: "message": {"text": "{{deposit|withdraw}} via pthread_mutex_lock takes {{from|to}}"}
// RUN: sarif traces r.*.lockorder.pb.gz | diff first -
// RUN: sarif traces r.*.lockorder.pb.gz q/*.lockorder.pb.gz | diff first -
//
// Locks without a name have other addresses in each process.
// RUN: mkdir n && for i in 1 2; do %run{lock_order=1:log_path=n/app:report=0} ./app heap || exit 1; done
// RUN: sarif traces n/*.lockorder.pb.gz | FileCheck %s --check-prefix=CHECK-HEAP
// CHECK-HEAP: lock-order {{.*}}: potential deadlock: both takes a mutex while its thread holds a mutex; both takes a mutex while its thread holds a mutex
// CHECK-HEAP-NOT: {{.}}
//
// RUN: %run{heap_rate=1:log_path=h:report=0} ./app
// RUN: not %mprof traces --format=sarif h.*.heap.pb.gz 2>&1 | FileCheck %s --check-prefix=CHECK-OTHER
// CHECK-OTHER: --format=sarif shows orders of locks and stuck threads, not inuse_space; mprof leaks shows leaks

#include "deadlock.h"
#include "lock_orders.h"

#include <stdlib.h>

__attribute__((noinline)) static void both(pthread_mutex_t *x,
                                           pthread_mutex_t *y) {
  pthread_mutex_lock(x);
  pthread_mutex_lock(y);
  pthread_mutex_unlock(y);
  pthread_mutex_unlock(x);
}

static void take_locks_on_heap(void) {
  pthread_mutex_t *locks = calloc(2, sizeof(*locks));
  both(&locks[0], &locks[1]);
  both(&locks[1], &locks[0]);
}

static void *volatile block;

int main(int argc, char **argv) {
  block = malloc(100);
  if (argc == 1) {
    deposit();
    withdraw();
    return 0;
  }
  if (argv[1][0] == 'h') {
    take_locks_on_heap();
    return 0;
  }
  init_deadlock();
  create_waiter(0, a_then_b);
  create_waiter(1, b_then_a);
  until_reported();
  exit(0);
}
