// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the memory profile counts small freed blocks that malloc keeps for
// reuse also if they are so many, in any order, that following their lists
// would take long. Such blocks keep no free memory. So it is in the main arena,
// in that of a thread, and in one that has several heaps. The program may have
// made larger blocks count as small ones.
//
// UNSUPPORTED: emulated
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -pthread %s -o app
// RUN: for where in main thread; do \
// RUN:   %run{heap_rate=1:memory=1:report=0:log_path=$where} ./app $where && \
// RUN:   %mprof memory -n 0 $where.*.memory.pb.gz > $where.txt && FileCheck %s < $where.txt && \
// RUN:   %mprof memory --holes $where.*.memory.pb.gz | FileCheck %s --check-prefix=HOLES || exit 1; done
// RUN: %run{heap_rate=1:memory=1:report=0:log_path=heaps} ./app heaps
// RUN: %mprof memory -n 0 heaps.*.memory.pb.gz | FileCheck %s --check-prefix=HEAPS
// RUN: %run{heap_rate=1:memory=1:report=0:log_path=larger} ./app larger
// RUN: %mprof memory -n 0 larger.*.memory.pb.gz | FileCheck %s --check-prefix=LARGER
// RUN: grep -q 'kept for reuse (main arena)' main.txt
// RUN: grep -q 'kept for reuse (arena 1)' thread.txt
// CHECK-DAG: 10.{{[67]}} MiB {{.*}} malloc: freed blocks, kept for reuse
// CHECK-DAG: 9.9{{.}} MiB {{.*}} malloc: free memory between blocks
// CHECK-DAG: 9.9{{.}} MiB {{.*}} malloc: blocks in use
// HEAPS-DAG: 10.{{[67]}} MiB {{.*}} malloc: freed blocks, kept for reuse (arena 1)
// HEAPS-DAG: 10.{{[01]}} MiB {{.*}} malloc: blocks in use
// LARGER: 15.{{[23]}} MiB {{.*}} malloc: freed blocks, kept for reuse (main arena)
// HOLES: keep 9.{{[89]}}{{.}} MiB of the 9.9{{.}} MiB of free memory

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100000, SMALL = 100, SMALL_MAX = 152, LARGE = 200 };
static size_t small_size = SMALL;
static char *small[N], *large[N];

// Frees the small blocks in an order in which neighbours are far apart.
static void *work(void *arg) {
  for (int i = 0; i < N; i++) {
    small[i] = memset(malloc(small_size), 1, small_size);
    large[i] = memset(malloc(LARGE), 1, LARGE);
  }
  for (int i = 0; i < N; i += 2)
    free(large[i]);
  for (int i = 0, k = 0; i < N; i++, k = (k + 54321) % N)
    free(small[k]);
  return arg;
}

static void *untouched[30];

// Fills most of the first heap, which has 64 MiB, with memory that does not
// become resident.
static void *work_in_several_heaps(void *arg) {
  for (size_t i = 0; i < sizeof(untouched) / sizeof(*untouched); i++)
    untouched[i] = malloc(2 << 20);
  return work(arg);
}

int main(int argc, char **argv) {
  pthread_t thread;
  const char *where = argv[argc - 1];
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  if (strcmp(where, "larger") == 0) {
    mallopt(M_MXFAST, 160);
    small_size = SMALL_MAX;
  }
  if (strcmp(where, "main") == 0 || strcmp(where, "larger") == 0)
    work(NULL);
  else if (pthread_create(&thread, NULL,
                          strcmp(where, "heaps") == 0 ? work_in_several_heaps
                                                      : work,
                          NULL) == 0)
    pthread_join(thread, NULL);
  return 0;
}
