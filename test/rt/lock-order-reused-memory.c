// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: locks with a static initializer that one thread had on its stack, or
// in memory that was unmapped, are other locks than those of the next thread at
// the same addresses. Their orders make no cycle. Locks that live on do.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run{log_path=a:lock_order=1} ./app
// RUN: %python %src/test/Inputs/mprof_read.py --symbolize a.*.lockorder.pb.gz \
// RUN:   | FileCheck --implicit-check-not=cycle= --check-prefix=CLEAN %s
// RUN: %run{log_path=b:lock_order=1} ./app cycle
// RUN: %python %src/test/Inputs/mprof_read.py --symbolize b.*.lockorder.pb.gz \
// RUN:   | FileCheck --implicit-check-not=on_stack \
// RUN:       --implicit-check-not=in_mapping --check-prefix=CYCLE %s
//
// CLEAN: sample_types: lockorder/count
// CYCLE: cycle=1 step=1 of 2: holds {{.*}} take <- in_data

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "../Inputs/check.h"

static uintptr_t places[4];

static void take(pthread_mutex_t *m, long first) {
  pthread_mutex_lock(&m[first]);
  pthread_mutex_lock(&m[!first]);
  pthread_mutex_unlock(&m[0]);
  pthread_mutex_unlock(&m[1]);
}

static void *on_stack(void *first) {
  pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
  places[(long)first] = (uintptr_t)m;
  take(m, (long)first);
  return NULL;
}

static void *in_mapping(void *first) {
  const size_t size = 4096;
  pthread_mutex_t *m =
      mmap((void *)0x510000000000, size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  NEED(m != MAP_FAILED);
  take(m, (long)first);
  NEED(munmap(m, size) == 0);
  return NULL;
}

static void *in_data(void *first) {
  static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER,
                                 PTHREAD_MUTEX_INITIALIZER};
  take(m, (long)first);
  return NULL;
}

static void run(void *(*f)(void *), long first) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, f, (void *)first) == 0);
  NEED(pthread_join(t, NULL) == 0);
}

int main(int argc, char **argv) {
  (void)argv;
  for (long first = 0; first < 2; first++) {
    run(on_stack, first);
    run(in_mapping, first);
    if (argc > 1)
      run(in_data, first);
  }
  CHECK_EQ(places[0], places[1]);
  puts("done");
  return 0;
}
