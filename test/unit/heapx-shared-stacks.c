// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each heapx count is published exactly once, and no reader finds more
// slack freed than was added. Threads and signal handlers count at the same
// stacks. There are more threads than shards, which are the places for a
// thread's counts. There is no data race (ThreadSanitizer).
//
// UNSUPPORTED: unit-address, unit-thread
// Files of the runtime that do not count are linked without ThreadSanitizer.
// RUN: %unit -fsanitize=thread -D_GNU_SOURCE %s %rt/bucket/counts.c %rt/bucket/heapx.c \
// RUN:   %rt/bucket/bucket.c %rt/snapshot/snapshot_heap.c %rt/thread/threads.c %rt/sys/lock.c %rt/sys/message.c \
// RUN:   %rtlib -lm -o %t
// RUN: %t

#define TEST_OPTIONS "heapx=1"
#include "core.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/heapx.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "snapshot/snapshot.h"
#include "sys/abi_words.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

enum {
  EVENTS = 3000,
  STACKS = 8,
  MANY = 130,
  FEW = 4,
  SIZE = 4,
  TOGETHER = 100000
};
_Static_assert(MANY > MPROF_OWN_SHARDS + MPROF_COMMON_SHARDS, "some share");
static struct mprof_bucket *b[STACKS];
static void *block; // a block with slack
static atomic_bool done;
static pthread_barrier_t all_known; // all threads have their shards at once

static void count(size_t k) {
  struct mprof_bucket *at = b[k % STACKS];
  CHECK(mprof_guard_enter());
  mprof_heapx_alloc(at, block, true);
  mprof_count_alloc(mprof_cell_here(at), mprof_cycle_explicit_index());
  mprof_guard_leave();
  struct mprof_heapx_end e = {.is_last = mprof_heapx_is_last(block),
                              .countdown = __mprof_heap_countdown,
                              .slack = mprof_heapx_slack(at, block),
                              .is_resized = k % 3 != 0,
                              .is_moved = k % 3 == 2,
                              .size = 3};
  if (k % 7 == 0) { // as a handler does in a guarded thread
    mprof_count_free_inside(&at->mem.own, mprof_cycle_explicit_index());
    mprof_heapx_free(at, &e, true);
    return;
  }
  CHECK(mprof_guard_enter());
  mprof_count_free(mprof_cell_here(at), mprof_cycle_explicit_index());
  mprof_heapx_free(at, &e, false);
  mprof_guard_leave();
}

static void *count_all(void *arg) {
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_guard_leave();
  pthread_barrier_wait(&all_known);
  for (size_t k = 0; k < EVENTS; k++)
    count(k);
  return arg;
}

static uint64_t total[MPROF_HEAPX_COUNTERS];

static void take(bool end_cycle) {
  struct mprof_mem_snapshot s;
  mprof_guard_enter();
  CHECK_EQ(mprof_mem_snapshot_take(&s, end_cycle), 0);
  CHECK_EQ(s.len, STACKS);
  memset(total, 0, sizeof(total));
  for (size_t i = 0; i < s.len; i++) {
    const uint64_t *n = s.heapx[i].n;
    // If cycles have ended, a thread that was interrupted between choosing its
    // index and counting may have put the slack into a later index than the
    // slack freed.
    CHECK(end_cycle || n[MPROF_HEAPX_SLACK_FREED] <= n[MPROF_HEAPX_SLACK]);
    for (int k = 0; k < MPROF_HEAPX_COUNTERS; k++)
      total[k] += n[k];
  }
  mprof_mem_snapshot_free(&s);
  mprof_guard_leave();
}

// No cycle ends: all counts are in one index, which the test flushes.
static void *read_all(void *arg) {
  while (!atomic_load(&done)) {
    mprof_guard_enter();
    mprof_lock_acquire(&mprof_active_lock);
    mprof_cycle_publish_index_locked(mprof_cycle_explicit_index());
    mprof_lock_release(&mprof_active_lock);
    mprof_guard_leave();
    take(false);
  }
  return arg;
}

static void *turn(void *arg) {
  while (!atomic_load(&done))
    mprof_next_cycle();
  return arg;
}

// Two threads share a shard here, as happens with more threads than shards.
static void *count_together(void *arg) {
  struct mprof_heapx_end e = {.is_resized = true};
  mprof_guard_enter();
  mprof_tls.shard = MPROF_OWN_SHARDS + 1;
  pthread_barrier_wait(&all_known);
  for (unsigned k = 0; k < TOGETHER; k++) {
    mprof_count_free(&b[0]->mem.own,
                     mprof_cycle_explicit_index()); // makes the cell
    mprof_heapx_free(b[0], &e, false);
  }
  mprof_tls.shard = 0;
  mprof_guard_leave();
  return arg;
}

static void check_together(void) {
  pthread_t two[2];
  uint64_t before = total[MPROF_HEAPX_IN_PLACE];
  pthread_barrier_init(&all_known, NULL, 2);
  for (int i = 0; i < 2; i++)
    pthread_create(&two[i], NULL, count_together, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(two[i], NULL);
  take(true);
  CHECK_EQ(total[MPROF_HEAPX_IN_PLACE], before + 2 * TOGETHER);
}

// While a handler counts, the code that it interrupted does not count.
static void check_inside(void) {
  unsigned index = mprof_cycle_explicit_index();
  struct mprof_heapx_counts *x = mprof_heapx_of(b[0]);
  struct mprof_heapx_end e = {.slack = 1000};
  uint64_t own = x->own[index].n[MPROF_HEAPX_SLACK_FREED];
  uint64_t shared = x->shared[index].n[MPROF_HEAPX_SLACK_FREED];
  CHECK_EQ(b[0]->owner, mprof_tls.shard);
  CHECK(mprof_guard_enter());
  mprof_heapx_free(b[0], &e, true);
  CHECK_EQ(x->own[index].n[MPROF_HEAPX_SLACK_FREED], own);
  CHECK_EQ(x->shared[index].n[MPROF_HEAPX_SLACK_FREED], shared + 1000);
  mprof_heapx_free(b[0], &e, false);
  CHECK_EQ(x->own[index].n[MPROF_HEAPX_SLACK_FREED], own + 1000);
  mprof_guard_leave();
}

static void run(unsigned threads, void *(*reader)(void *)) {
  pthread_t t[MANY], other;
  atomic_store(&done, false);
  pthread_barrier_init(&all_known, NULL, threads);
  for (unsigned i = 0; i < threads; i++)
    pthread_create(&t[i], NULL, count_all, NULL);
  pthread_create(&other, NULL, reader, NULL);
  for (unsigned i = 0; i < threads; i++)
    pthread_join(t[i], NULL);
  atomic_store(&done, true);
  pthread_join(other, NULL);
}

static void check(uint64_t threads) {
  uint64_t slack = malloc_usable_size(block) - SIZE;
  CHECK(slack > 0);
  for (int i = 0; i < 3; i++) // for late counts of an interrupted thread
    take(true);
  CHECK_EQ(total[MPROF_HEAPX_IN_PLACE], threads * EVENTS / 3);
  CHECK_EQ(total[MPROF_HEAPX_MOVED], threads * EVENTS / 3);
  CHECK_EQ(total[MPROF_HEAPX_COPIED], threads * EVENTS / 3 * 3);
  CHECK_EQ(total[MPROF_HEAPX_SLACK], threads * EVENTS * slack);
  CHECK_EQ(total[MPROF_HEAPX_SLACK_FREED], threads * EVENTS * slack);
}

int main(void) {
  CHECK(mprof_process_ready());
  block = malloc(SIZE + 5);
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_guard_leave();
  for (size_t i = 0; i < STACKS; i++)
    b[i] = mem_bucket((mprof_pc[]){0x1000 + i}, 1, SIZE);
  pthread_barrier_init(&all_known, NULL, 1);
  count_all(NULL); // the owner of the cell
  check(1);
  CHECK_EQ(total[MPROF_HEAPX_TEMPORARY], EVENTS);
  run(FEW, read_all);
  check(1 + FEW);
  run(FEW, turn);
  check(1 + 2 * FEW);
  // Threads without a cell have counted enough events to be given one.
  CHECK(b[0]->cells != 0);
  run(MANY, turn);
  check(1 + 2 * FEW + MANY);
  check_together();
  check_inside();
  free(block);
  return 0;
}
