// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if threads wait for very many locks at one stack, the first locks
// each get a bucket. All other locks share one bucket without a lock. Counts
// and ticks add up in the block profile and in the mutex profile. Waits at
// another stack have buckets of their own.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#define TEST_OPTIONS "block_rate=1:mutex_fraction=1"

#include "bucket/bucket.h"
#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "lock_wait/waiters.h"
#include "mprof/mprof.h"
#include "process/process.h"
#include "sys/clock.h"

#include "core.h"

static uint64_t time_now = 100;
static uint64_t clock_fn(void) { return time_now; }

enum { LOCKS = 1000, ROUNDS = 3 };

static void op(void) {}
#define FRAME ((uintptr_t)__builtin_frame_address(0))

static MPROF_NOINLINE void contend(uintptr_t lock) {
  struct mprof_wait w;
  struct mprof_release r;
  mprof_wait_begin(&w, MPROF_KIND_mutex, (uintptr_t)op, FRAME, lock);
  time_now += 7;
  mprof_release_begin(&r, lock, MPROF_WAKES_NEXT_OWNER, (uintptr_t)op, FRAME);
  mprof_release_end(&r, true, MPROF_KIND_mutex, (uintptr_t)op, FRAME);
  mprof_wait_end(&w, MPROF_GOT);
  __asm__ volatile("");
}

static MPROF_NOINLINE void one_place(void) {
  for (uintptr_t i = 0; i < LOCKS; i++)
    contend(0x100000 + i * 64);
}

static MPROF_NOINLINE void another_place(void) {
  contend(0x100000 + 999 * 64);
  __asm__ volatile("");
}

static void check(enum mprof_bucket_type type) {
  unsigned with = 0, without = 0, events = 0;
  uint64_t cycles = 0;
  for (struct mprof_bucket *b = mprof_bucket_first(type); b; b = b->allnext) {
    if (b->stack[1] > (mprof_pc)another_place &&
        b->stack[1] < (mprof_pc)another_place + 60) {
      if (b->object != 0)
        CHECK_EQ(b->object, 0x100000 + 999 * 64);
      continue;
    }
    if (b->object != 0)
      with++;
    else
      without++;
    events += (unsigned)(atomic_load(&b->wait.count) / MPROF_COUNT_ONE);
    cycles += atomic_load(&b->wait.cycles);
  }
  CHECK_EQ(with, MPROF_LOCKS_PER_STACK);
  CHECK_EQ(without, 1);
  CHECK_EQ(events, LOCKS * ROUNDS);
  CHECK_EQ(cycles, LOCKS * ROUNDS * 7);
}

int main(void) {
  CHECK(mprof_process_ready());
  mprof_clock_set(clock_fn, 1000000000);
  mprof_set_block_rate(1);
  for (int i = 0; i < ROUNDS; i++)
    one_place();
  another_place();
  check(MPROF_BUCKET_BLOCK);
  check(MPROF_BUCKET_MUTEX);

  // The API returns a single record for a stack, whatever the locks.
  struct mprof_block_record r[4];
  size_t n;
  CHECK_EQ(mprof_block_profile(r, 4, &n), 0);
  CHECK_EQ(n, 2);
  CHECK_EQ(r[0].count, LOCKS * ROUNDS);
  CHECK_EQ(r[0].cycles, LOCKS * ROUNDS * 7);
  CHECK_EQ(r[1].count, 1);
  CHECK_EQ(r[1].cycles, 7);
  return 0;
}
