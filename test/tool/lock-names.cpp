// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof names locks that are global variables, or parts of one, by the
// symbol table of the program, with each linker. A name that the program has
// given, and the address of a lock on the heap, stay as they are.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for ld in bfd lld gold; do %mprof_clangxx -fmprof -fuse-ld=$ld -O1 \
// RUN:     -I%src/test/Inputs %s -o $ld -pthread \
// RUN:   && %run{block_rate=1:log_path=$ld:report=0:symbolize=0} ./$ld || exit 1; \
// RUN:   %mprof traces $ld.*.block.pb.gz > $ld.out && FileCheck %s < $ld.out \
// RUN:   || exit 1; done
// CHECK-DAG: bank::accounts (0x{{[0-9a-f]+}})
// CHECK-DAG: table+0x50 (0x{{[0-9a-f]+}})
// CHECK-DAG: given (0x{{[0-9a-f]+}})
// CHECK-DAG: {{[:,] 0x[0-9a-f]+}}
// CHECK-NOT: named (
//
// A program that is not the one that ran gives no names.
// RUN: cp lld bfd && %mprof traces bfd.*.block.pb.gz 2> err > other
// RUN: not grep 'accounts (' other
//
// In the sum of two programs at the same addresses, a lock has no name.
// RUN: for n in 1 2; do %mprof_clangxx -fmprof -no-pie -O1 -DPAD=$n \
// RUN:     -I%src/test/Inputs %s -o fixed$n -pthread \
// RUN:   && %run{block_rate=1:log_path=fixed$n:report=0:symbolize=0} ./fixed$n \
// RUN:   && %mprof traces fixed$n.*.block.pb.gz | grep -q 'accounts (0x' \
// RUN:   || exit 1; done
// RUN: %mprof html --no-source fixed*.block.pb.gz -o sum && grep -q 'given (0x' sum
// RUN: not grep 'accounts (0x' sum

#include "waited.h"

#include <initializer_list>
#include <stdlib.h>

#ifndef PAD
#define PAD 1
#endif
long pad[PAD * 16];

namespace bank {
pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
}
static pthread_mutex_t table[4], named = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void *take(void *lock) {
  pthread_mutex_lock((pthread_mutex_t *)lock);
  pthread_mutex_unlock((pthread_mutex_t *)lock);
  return nullptr;
}

static void contend(pthread_mutex_t *lock) {
  pthread_t thread;
  pthread_mutex_lock(lock);
  pthread_create(&thread, nullptr, take, lock);
  until_waited_for(lock);
  pthread_mutex_unlock(lock);
  pthread_join(thread, nullptr);
}

int main() {
  auto *heap = (pthread_mutex_t *)calloc(1, sizeof(pthread_mutex_t));
  mprof_name_lock(&named, "given");
  for (pthread_mutex_t *lock : {&bank::accounts, &table[2], &named, heap})
    contend(lock);
  free(heap);
  return 0;
}
