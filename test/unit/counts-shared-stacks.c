// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: every event is published exactly once, and no reader sees a block
// freed before the block is allocated. Threads count at the same stacks, end,
// and free blocks of other threads, also in signal handlers. There are more
// threads than shards, which are the places for a thread's counts. There is no
// data race (ThreadSanitizer).
//
// UNSUPPORTED: unit-address, unit-thread
// RUN: %unit -D_GNU_SOURCE %s %rt_tsan -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "mprof/mprof.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <pthread.h>

enum {
  EVENTS = 4000,
  STACKS = 16,
  ROUNDS = 3,
  MANY = 130,
  TOGETHER = 200000,
  FEW = 4
};
_Static_assert(MANY > MPROF_OWN_SHARDS + MPROF_COMMON_SHARDS, "some share");
static struct mprof_bucket *b[STACKS];
static atomic_bool done;
static pthread_barrier_t all_known; // all threads have their shards at once

static void count(size_t k, bool is_free) {
  struct mprof_bucket *at = b[k % STACKS];
  unsigned index = mprof_cycle_explicit_index();
  if (is_free && k % 7 == 0) { // as a handler does in a guarded thread
    mprof_count_free_inside(&at->mem.own, index);
    return;
  }
  CHECK(mprof_guard_enter());
  if (is_free)
    mprof_count_free(mprof_cell_here(at), index);
  else
    mprof_count_alloc(mprof_cell_here(at), index);
  mprof_guard_leave();
}

static void *allocate_and_free(void *arg) {
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_guard_leave();
  pthread_barrier_wait(&all_known);
  for (size_t k = 0; k < *(size_t *)arg; k++) {
    count(k, false);
    count(k, true);
  }
  return NULL;
}

static atomic_size_t handed_over; // blocks that only_free may free

static void *only_allocate(void *arg) {
  (void)arg;
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_guard_leave();
  for (size_t k = 0; k < EVENTS; k++) {
    count(k, false);
    atomic_store_explicit(&handed_over, k + 1, memory_order_release);
  }
  return NULL;
}

static void *only_free(void *arg) {
  (void)arg;
  for (size_t k = 0; k < EVENTS; k++) {
    while (atomic_load_explicit(&handed_over, memory_order_acquire) <= k)
      ;
    count(k, true);
  }
  return NULL;
}

// Counts in a destructor of the program, after the thread has returned its
// shard.
static void count_late(void *arg) {
  CHECK(arg == b[0]);
  CHECK_EQ(mprof_tls.shard, 0);
  uint64_t before = b[0]->mem.shared[0].frees;
  mprof_guard_enter();
  mprof_count_free(&b[0]->mem.own, 0);
  mprof_guard_leave();
  CHECK_EQ(b[0]->mem.shared[0].frees, before + 1);
}

// A thread without a record that counts some events is given a record and a
// cell. It keeps them until it ends. A thread that holds a lock of the runtime
// is given no record, because this takes another lock.
static void *become_known(void *arg) {
  CHECK_EQ(pthread_setspecific(*(pthread_key_t *)arg, b[0]), 0);
  CHECK_EQ(mprof_tls.shard, 0);
  mprof_guard_enter();
  mprof_lock_acquire(&mprof_active_lock);
  for (unsigned k = 0; k < MPROF_CELL_FROM; k++)
    mprof_count_free(&b[0]->mem.own, 1);
  mprof_lock_release(&mprof_active_lock);
  for (unsigned k = 1; k < MPROF_CELL_FROM; k++)
    mprof_count_free(&b[0]->mem.own, 0);
  CHECK_EQ(mprof_tls.shard, 0);
  mprof_count_free(&b[0]->mem.own, 0);
  CHECK(mprof_tls.shard != 0);
  CHECK_EQ(b[0]->mem.shared[0].frees, MPROF_CELL_FROM);
  mprof_count_free(&b[0]->mem.own, 0);
  CHECK_EQ(b[0]->mem.shared[0].frees, MPROF_CELL_FROM);
  mprof_guard_leave();
  return NULL;
}

// Two threads share a shard here, as happens with more threads than shards.
static void *count_together(void *arg) {
  (void)arg;
  mprof_guard_enter();
  mprof_tls.shard = MPROF_OWN_SHARDS + 1;
  pthread_barrier_wait(&all_known);
  for (unsigned k = 0; k < TOGETHER; k++) {
    mprof_count_alloc(&b[0]->mem.own, 0);
    mprof_count_free(&b[0]->mem.own, 0);
  }
  CHECK(b[0]->mem.shared[0].frees < TOGETHER);
  mprof_tls.shard = 0;
  mprof_guard_leave();
  return NULL;
}

// No cycle ends meanwhile. All events are in one index, which the test flushes,
// so that the counts of a block are never spread over two.
static void *read_all(void *arg) {
  uint64_t seen = 0;
  (void)arg;
  while (!atomic_load(&done)) {
    uint64_t allocs = 0;
    mprof_guard_enter();
    mprof_lock_acquire(&mprof_active_lock);
    mprof_cycle_publish_index_locked(mprof_cycle_explicit_index());
    for (size_t i = 0; i < STACKS; i++) {
      CHECK(b[i]->mem.active.frees <= b[i]->mem.active.allocs);
      allocs += b[i]->mem.active.allocs;
    }
    mprof_lock_release(&mprof_active_lock);
    mprof_guard_leave();
    CHECK(allocs >= seen);
    seen = allocs;
  }
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

static void run(size_t threads, size_t events, void *(*reader)(void *)) {
  pthread_t t[MANY], other[3];
  atomic_store(&done, false);
  atomic_store(&handed_over, 0);
  pthread_barrier_init(&all_known, NULL, (unsigned)threads);
  pthread_create(&other[0], NULL, reader, NULL);
  pthread_create(&other[1], NULL, only_allocate, NULL);
  pthread_create(&other[2], NULL, only_free, NULL);
  for (size_t i = 0; i < threads; i++)
    pthread_create(&t[i], NULL, allocate_and_free, &events);
  for (size_t i = 0; i < threads; i++)
    pthread_join(t[i], NULL);
  pthread_join(other[1], NULL);
  pthread_join(other[2], NULL);
  atomic_store(&done, true);
  pthread_join(other[0], NULL);
}

static void check_sums(uint64_t expected) {
  struct mprof_mem_record r[STACKS];
  uint64_t allocs = 0, frees = 0;
  size_t n;
  // A thread may be interrupted for two turns of the cycle between reading the
  // index and counting. Its event then belongs to a later cycle.
  for (int i = 0; i < 3; i++)
    mprof_next_cycle();
  CHECK_EQ(mprof_mem_profile(r, STACKS, 1, &n), 0);
  for (size_t i = 0; i < n; i++) {
    allocs += (uint64_t)r[i].alloc_objects;
    frees += (uint64_t)r[i].free_objects;
  }
  CHECK_EQ(allocs, expected);
  CHECK_EQ(frees, expected);
}

int main(void) {
  uint64_t expected = 0;
  mprof_guard_enter();
  CHECK(mprof_thread_self(false) != NULL);
  mprof_guard_leave();
  for (size_t i = 0; i < STACKS; i++)
    b[i] = mem_bucket((mprof_pc[]){0x1000 + i}, 1, 16);
  pthread_t t;
  mprof_guard_enter();
  for (unsigned k = 0; k < 2 * MPROF_CELL_FROM + 2; k++)
    mprof_count_alloc(&b[0]->mem.own, 0);
  mprof_guard_leave();
  CHECK_EQ(b[0]->mem.own.cycles[0].allocs, 2 * MPROF_CELL_FROM + 2);
  pthread_key_t late; // created after the runtime's key, so destroyed after it
  CHECK_EQ(pthread_key_create(&late, count_late), 0);
  pthread_create(&t, NULL, become_known, &late);
  pthread_join(t, NULL);
  expected = 2 * MPROF_CELL_FROM + 2;
  check_sums(expected);
  pthread_t two[2];
  pthread_barrier_init(&all_known, NULL, 2);
  for (int i = 0; i < 2; i++)
    pthread_create(&two[i], NULL, count_together, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(two[i], NULL);
  expected += 2 * TOGETHER;
  check_sums(expected);
  for (int k = 0; k < ROUNDS; k++) {
    run(FEW, EVENTS, read_all);
    run(FEW, EVENTS, turn);
    expected += 2 * (FEW + 1) * EVENTS;
    check_sums(expected);
  }
  run(MANY, EVENTS / 2, turn);
  expected += MANY * (EVENTS / 2) + EVENTS;
  check_sums(expected);
  return 0;
}
