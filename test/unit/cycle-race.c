// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads cause events, end cycles, flush and read counts at the same
// time. No event is lost or counted twice. There is no deadlock and no data
// race (ThreadSanitizer).
//
// UNSUPPORTED: unit-address, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rt_tsan -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "mprof/mprof.h"

#include <pthread.h>

enum { EVENTS = 30000, STACKS = 16 };
static struct mprof_bucket *b[STACKS];
static atomic_bool done;

static void *work(void *arg) {
  (void)arg;
  for (unsigned k = 0; k < EVENTS; k++)
    atomic_fetch_add(
        &b[k % STACKS]->mem.shared[mprof_cycle_explicit_index()].allocs, 1);
  return NULL;
}

static void *turn(void *arg) {
  struct mprof_mem_record r[STACKS];
  size_t n;
  (void)arg;
  while (!atomic_load(&done)) {
    mprof_next_cycle();
    mprof_cycle_flush();
    mprof_cycle_post_sweep();
    CHECK_EQ(mprof_mem_profile(r, STACKS, 1, &n), 0);
  }
  return NULL;
}

int main(void) {
  pthread_t t[4];
  for (size_t i = 0; i < STACKS; i++)
    b[i] = mem_bucket((mprof_pc[]){0x1000 + i}, 1, 16);
  pthread_create(&t[0], NULL, work, NULL);
  pthread_create(&t[1], NULL, work, NULL);
  pthread_create(&t[2], NULL, turn, NULL);
  pthread_create(&t[3], NULL, turn, NULL);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
  atomic_store(&done, true);
  pthread_join(t[2], NULL);
  pthread_join(t[3], NULL);
  uint64_t sum = 0;
  for (size_t i = 0; i < STACKS; i++) {
    sum += b[i]->mem.active.allocs;
    for (int k = 0; k < 3; k++)
      sum += b[i]->mem.shared[k].allocs - b[i]->mem.taken[k].allocs;
  }
  CHECK_EQ(sum, 2 * EVENTS);
  return 0;
}
