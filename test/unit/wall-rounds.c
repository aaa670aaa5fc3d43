// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each round of the wall profile adds the time since the round before
// to the state in which it finds a thread. So the times of all states add up to
// the life of the thread, and a state that a thread has for a part of the time
// gets this part within two standard errors. The stack of a wait is unwound
// once, however many rounds find the thread in it. A wait in another place, or
// of other labels, has a sample of its own. A thread that has ended gets no
// time.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t -Wl,--wrap=mprof_unwind_wait
// RUN: %t

#include "wall_rounds.h"

#include "lock_wait/hooked.h"
#include "sys/clock.h"

#include <mprof/mprof.h>
#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 2000, PERIOD = 1000 };

// The clock ticks once at each look, so that no two waits begin at the same
// time, and is far slower than the times that the test sets.
static _Atomic uint64_t ticks = 1;
static uint64_t now(void) { return atomic_fetch_add(&ticks, 1) / 1000; }
static void set_time(uint64_t t) { atomic_store(&ticks, t * 1000); }

// --- a thread whose waits the test controls ---

static atomic_uint order, done; // the order is done if both are equal
static enum mprof_kind wanted;  // the kind of the wait; COUNT: end
static uintptr_t lock;

static void *obey(void *arg) {
  unsigned last = 0;
  struct mprof_wait w = {.start = 0};
  bool waits = false;
  for (;;) {
    while (atomic_load(&order) == last)
      sched_yield();
    last = atomic_load(&order);
    if (waits)
      mprof_wait_end(&w, MPROF_TIMEOUT);
    waits = wanted != MPROF_KIND_COUNT;
    if (waits)
      mprof_wait_begin(&w, wanted, (uintptr_t)obey,
                       (uintptr_t)__builtin_frame_address(0), lock);
    else
      break;
    atomic_store(&done, last);
  }
  return arg;
}

static void make(enum mprof_kind kind) {
  wanted = kind;
  const unsigned n = atomic_fetch_add(&order, 1) + 1;
  while (kind != MPROF_KIND_COUNT && atomic_load(&done) != n)
    sched_yield();
}

static void take(uint64_t at) {
  set_time(at);
  wall_round();
}

// --- the profile ---

struct sum {
  uint64_t samples, ticks;
  size_t buckets;
};

// Adds up the buckets of the state, and with `object` if it is not 0.
static struct sum sum_of(enum mprof_kind state, uintptr_t object) {
  struct sum s = {0};
  for (const struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_WALL); b;
       b = b->allnext) {
    if (b->kind != state || (object != 0 && b->object != object))
      continue;
    s.samples += atomic_load(&b->wait.count) / MPROF_COUNT_ONE;
    s.ticks += atomic_load(&b->wait.cycles);
    s.buckets += atomic_load(&b->wait.count) != 0;
  }
  return s;
}

static uint64_t random_below(uint64_t n) {
  static uint64_t x = 88172645463325252u;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x % n;
}

// The thread alternates between two states, for random times. Rounds come at
// random times. Returns the time of the last round.
static uint64_t alternate(uint64_t t) {
  const uint64_t begin = t;
  uint64_t next = t, true_cond = 0, after = t;
  enum mprof_kind state = MPROF_KIND_sem;
  for (int i = 0; i < ROUNDS; i++) {
    t += PERIOD / 2 + random_below(PERIOD + 1);
    for (; next <= t; after = next, next += 1 + random_below(3 * PERIOD)) {
      if (state == MPROF_KIND_cond)
        true_cond += next - after;
      state = random_below(10) < 3 ? MPROF_KIND_cond : MPROF_KIND_sem;
      set_time(next);
      make(state);
    }
    take(t);
  }
  if (state == MPROF_KIND_cond)
    true_cond += t - after;
  const struct sum cond = sum_of(MPROF_KIND_cond, 0),
                   sem = sum_of(MPROF_KIND_sem, 0);
  CHECK_EQ(cond.samples + sem.samples, ROUNDS);
  CHECK_EQ(cond.ticks + sem.ticks, t - begin);
  // The variance of a share p is at most p (1 - p) / n, here 0.21 / 2000, as if
  // the rounds were independent.
  const double share = (double)cond.ticks / (double)(t - begin);
  const double truth = (double)true_cond / (double)(t - begin);
  const double error = (share - truth) / 0.0102;
  CHECK(error > -2 && error < 2);
  return t;
}

int main(void) {
  pthread_t thread;
  mprof_clock_set(now, 1000000000);
  wall_note_waits();
  pthread_create(&thread, NULL, obey, NULL);
  lock = 0x1000;
  make(MPROF_KIND_sem);
  take(1000); // the first round has an unknown time before it
  for (struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_WALL); b;
       b = b->allnext) {
    b->wait.count = 0;
    b->wait.cycles = 0;
  }
  uint64_t t = alternate(1000);

  const unsigned before = unwound;
  lock = 0x2000;
  set_time(t);
  make(MPROF_KIND_mutex);
  for (int i = 0; i < 100; i++)
    take(t += 7);
  CHECK_EQ(unwound, before + 1);
  CHECK_EQ(sum_of(MPROF_KIND_mutex, 0x2000).ticks, 700);
  CHECK_EQ(sum_of(MPROF_KIND_mutex, 0x2000).samples, 100);

  // Another lock has a sample of its own, also with the same kind of wait.
  lock = 0x3000;
  make(MPROF_KIND_mutex);
  take(t += 5);
  CHECK_EQ(unwound, before + 2);
  CHECK_EQ(sum_of(MPROF_KIND_mutex, 0x3000).ticks, 5);
  CHECK_EQ(sum_of(MPROF_KIND_mutex, 0x2000).ticks, 700);

  // This thread has run in each round, and a thread that has ended is in none.
  make(MPROF_KIND_COUNT);
  pthread_join(thread, NULL);
  take(t += 100);
  CHECK_EQ(sum_of(MPROF_KIND_mutex, 0).ticks, 705);
  const struct sum own = sum_of(MPROF_STATE_running, 0);
  const struct sum queued = sum_of(MPROF_STATE_runnable, 0);
  CHECK_EQ(own.ticks + queued.ticks, t - 1000);
  return 0;
}
