// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads allocate, free and resize each other's blocks at the same
// time. In the log, an address is never allocated again before its free, so
// each free has its allocation. ThreadSanitizer reports no race, because the
// runtime tells ThreadSanitizer about the lock of the log.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O1 -g1 %s -o app
// RUN: %run_quiet{heap_rate=1:alloc_log=x.log} ./app
// RUN: %mprof log --no-names x.log > out && FileCheck %s < out
// RUN: %if tsan %{ %mprof_clang -fmprof -fsanitize=thread -O1 -g1 %s -o tsan %}
// RUN: %if tsan %{ %run_quiet{heap_rate=1:alloc_log=z.log} ./tsan %}
// RUN: %run{seed=1:heap_rate=2000:alloc_log=y.log:report=0:log_path=y} ./app
// RUN: %mprof log --no-names y.log > out
// RUN: FileCheck %s --check-prefix=SAMPLED < out
// RUN: %mprof_read y.*.heap.pb.gz > profile
// RUN: samples=$(sed -n 's/^comment: samples: \([0-9]*\) .*/\1/p' profile)
// RUN: frees=$(sed -n 's/^comment: sample_frees: \([0-9]*\) .*/\1/p' profile)
// RUN: test $samples -gt 100
// RUN: sed 's/,//g' out | grep "^$samples allocations ([0-9]* bytes) $frees frees"
//
// CHECK: 4 threads{{$}}
// CHECK-NOT: note:
// CHECK: {{^}}Live: 0 blocks, 0 bytes
// CHECK: {{^}}Freed twice: 0 blocks
// SAMPLED-NOT: note:
// SAMPLED: {{^}}Freed twice: 0 blocks

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, STEPS = 3000, SLOTS = 64 };

static void *slots[SLOTS];

static void *work(void *arg) {
  unsigned x = 1 + (unsigned)(size_t)arg;
  for (int i = 0; i < STEPS; i++) {
    x = x * 1103515245 + 12345;
    void *p = __atomic_exchange_n(&slots[x >> 16 & (SLOTS - 1)], NULL,
                                  __ATOMIC_ACQ_REL);
    if ((x >> 24) % 3 == 0) {
      free(p);
      p = NULL;
    } else {
      p = realloc(p, 16 + (x >> 20) % 1000);
    }
    free(
        __atomic_exchange_n(&slots[x >> 8 & (SLOTS - 1)], p, __ATOMIC_ACQ_REL));
  }
  return NULL;
}

int main(void) {
  pthread_t t[THREADS];
  for (size_t i = 1; i < THREADS; i++)
    pthread_create(&t[i], NULL, work, (void *)i);
  work(NULL);
  for (size_t i = 1; i < THREADS; i++)
    pthread_join(t[i], NULL);
  for (int i = 0; i < SLOTS; i++)
    free(slots[i]);
  return 0;
}
