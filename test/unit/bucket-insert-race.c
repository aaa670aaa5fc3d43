// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads that insert and look up equal stacks at the same time create
// a single bucket for each stack. There is no data race (the runtime is rebuilt
// with ThreadSanitizer).
//
// UNSUPPORTED: unit-address, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rt_tsan -o %t && %t

#include "core.h"

#include "bucket/bucket.h"

#include <pthread.h>

enum { THREADS = 8, STACKS = 1000, EVENTS = 20000 };
static struct mprof_bucket *seen[THREADS][STACKS];

static void *work(void *arg) {
  size_t me = (size_t)arg;
  for (size_t k = 0; k < EVENTS; k++) {
    size_t i = (k * 7919 + me * 13) % STACKS;
    struct mprof_bucket *b =
        mem_bucket((mprof_pc[]){0x1000 + i * 8, 0x2000}, 2, 16);
    CHECK(b != NULL);
    seen[me][i] = b;
    atomic_fetch_add(&b->mem.shared[2].allocs, 1);
  }
  return NULL;
}

int main(void) {
  pthread_t t[THREADS];
  for (size_t i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, work, (void *)i);
  for (size_t i = 0; i < THREADS; i++)
    pthread_join(t[i], NULL);
  uint64_t sum = 0, buckets = 0;
  for (struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_MEM); b;
       b = b->allnext, buckets++)
    sum += b->mem.shared[2].allocs;
  CHECK_EQ(buckets, STACKS);
  CHECK_EQ(sum, (uint64_t)THREADS * EVENTS);
  for (size_t i = 0; i < STACKS; i++)
    for (size_t k = 1; k < THREADS; k++)
      CHECK(seen[k][i] == seen[0][i]);
  return 0;
}
