// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the rows of the profile locks add up, to the tick, to the block
// profile by waiter and to the mutex profile by release. A release that others
// waited for is divided among the stacks of its waiters. The row has the hold
// of the lock from where it was taken, also of a recursive lock, and the part
// of it in which others waited. The end of a wait that timed out has no
// release. A thread that a signal woke is a waiter for the mutex by its stack.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "lock_wait/contention.h"
#include "lock_wait/holds.h"
#include "lock_wait/lock_order.h"
#include "waits.h"

#include <pthread.h>
#include <string.h>

static uint64_t time_now = 1000;
static uint64_t clock_fn(void) { return time_now; }

// Each event has a stack of its own, because the stack of a call depends on the
// line. `op` is the leaf.
enum {
  GET = 0x1000,
  PUT = 0x2000,
  TAKE = 0x3000,
  FREE = 0x4000,
  WAIT = 0x5000
};
#define FRAME ((uintptr_t)__builtin_frame_address(0))

static MPROF_NOINLINE void begin(struct mprof_wait *w, uintptr_t op,
                                 uintptr_t lock, uint64_t at) {
  time_now = at;
  mprof_wait_begin(w, MPROF_KIND_mutex, op, FRAME, lock);
}

static MPROF_NOINLINE void end(struct mprof_wait *w, enum mprof_outcome how,
                               uint64_t at) {
  time_now = at;
  mprof_wait_end(w, how);
}

static MPROF_NOINLINE void take(uintptr_t op, uintptr_t lock, uint64_t at) {
  time_now = at;
  mprof_hold_taken(lock, MPROF_KIND_mutex, 0, op, FRAME);
}

static MPROF_NOINLINE void unlock(uintptr_t op, uintptr_t lock, uint64_t at) {
  struct mprof_release r;
  time_now = at;
  mprof_release_begin(&r, lock, MPROF_WAKES_NEXT_OWNER, op, FRAME);
  mprof_release_end(&r, true, MPROF_KIND_mutex, op, FRAME);
}

// --- sums ---

static const struct mprof_bucket *bucket_of_handle(uint32_t h) {
  return mprof_persistent_pointer(h);
}

static uintptr_t op_of(uint32_t h) {
  return h == 0 ? 0 : bucket_of_handle(h)->stack[0] - mprof_op_pc(0);
}

struct sum {
  uint64_t count, ticks, held, held_waiting, worst, queue;
};
struct wanted {
  uintptr_t waiter, release, taken;
  struct sum sum;
};

static void add_row(const struct mprof_pair *p, void *arg) {
  struct wanted *w = arg;
  if (op_of(p->waiter) != w->waiter || op_of(p->release) != w->release ||
      op_of(p->taken) != w->taken)
    return;
  w->sum.count += p->count;
  w->sum.ticks += p->ticks;
  w->sum.held += p->held;
  w->sum.held_waiting += p->held_waiting;
  w->sum.worst = p->worst;
  w->sum.queue = p->queue;
}

static struct sum row(uintptr_t waiter, uintptr_t release, uintptr_t taken) {
  struct wanted w = {.waiter = waiter, .release = release, .taken = taken};
  mprof_pairs_each(add_row, &w);
  return w.sum;
}

struct margin {
  bool is_waiter;
  const struct mprof_bucket *of;
  uint64_t ticks;
};

// Returns whether b is the bucket of the handle, or that of the wait for the
// mutex which follows a wait for a condition.
static bool is_bucket(uint32_t handle, const struct mprof_bucket *b) {
  const struct mprof_bucket *x = bucket_of_handle(handle);
  return x == b || (x != NULL && x->kind == MPROF_KIND_cond &&
                    b->kind == MPROF_KIND_mutex && x->stack[0] == b->stack[0]);
}

static void add_to_margin(const struct mprof_pair *p, void *arg) {
  struct margin *m = arg;
  if (is_bucket(m->is_waiter ? p->waiter : p->release, m->of))
    m->ticks += p->ticks;
}

static void check_margins(void) {
  for (int type = MPROF_BUCKET_BLOCK; type <= MPROF_BUCKET_MUTEX; type++)
    for (const struct mprof_bucket *b = mprof_bucket_first(type); b != NULL;
         b = b->allnext) {
      struct margin m = {.is_waiter = type == MPROF_BUCKET_BLOCK, .of = b};
      // A common bucket (MPROF_LOCKS_PER_STACK) has no events here.
      if (b->kind == MPROF_KIND_cond || b->object == 0)
        continue;
      mprof_pairs_each(add_to_margin, &m);
      CHECK_EQ(m.ticks, b->wait.cycles);
    }
}

// --- the cases ---

static void two_stacks_wait(uintptr_t lock) {
  struct mprof_wait a, b[2];
  begin(&a, GET, lock, 1000);
  for (uint64_t i = 0; i < 2; i++)
    begin(&b[i], PUT, lock, 1100 + 50 * i);
  unlock(FREE, lock, 1200); // its thread took the lock before anyone waited
  struct sum p = row(GET, FREE, 0);
  CHECK(p.count == 1 && p.ticks == 200 && p.worst == 200 && p.queue == 3);
  CHECK_EQ(p.held, 0);
  p = row(PUT, FREE, 0);
  CHECK(p.count == 2 && p.ticks == 150 && p.worst == 100 && p.queue == 3);
  end(&a, MPROF_GOT, 1210);
  take(GET, lock, 1215); // the second half of the entry notes the acquisition
  unlock(FREE, lock, 1300);
  p = row(PUT, FREE, GET);
  CHECK(p.count == 2 && p.ticks == 200 && p.worst == 100 && p.queue == 2);
  CHECK_EQ(p.held, 85);
  CHECK_EQ(p.held_waiting, 85);
  end(&b[0], MPROF_GOT, 1310);
  take(PUT, lock, 1310);
  end(&b[1], MPROF_TIMEOUT, 1350);
  p = row(PUT, 0, 0);
  CHECK(p.count == 1 && p.ticks == 50);
  unlock(FREE, lock, 1400);
  check_margins();
}

static void taken_before_the_wait(uintptr_t lock) {
  struct mprof_wait a;
  take(TAKE, lock, 2000);
  take(PUT, lock, 2010); // a recursive lock
  mprof_note_dropped(lock);
  begin(&a, GET, lock, 2060);
  unlock(FREE, lock, 2100);
  struct sum p = row(GET, FREE, TAKE);
  CHECK(p.count == 1 && p.ticks == 40 && p.held == 100 && p.held_waiting == 40);
  end(&a, MPROF_GOT, 2110);
  // The next release is of a lock that the thread has taken unseen.
  begin(&a, GET, lock, 2200);
  unlock(PUT, lock, 2210);
  CHECK_EQ(row(GET, PUT, 0).ticks, 10);
  CHECK_EQ(row(GET, PUT, TAKE).ticks, 0);
  end(&a, MPROF_GOT, 2220);
  check_margins();
}

// After some acquisitions without contention, no more are noted, and a note
// from before does not count.
static void notes_end(uintptr_t lock) {
  struct mprof_wait a;
  CHECK(mprof_notes_wanted(lock));
  take(TAKE, lock, 3000);
  for (int i = 0; i < 1000 && mprof_notes_wanted(lock); i++) {
    take(TAKE, lock + 8, 3000);
    mprof_note_dropped(lock + 8);
  }
  CHECK(!mprof_notes_wanted(lock));
  begin(&a, GET, lock, 3010);
  unlock(WAIT, lock, 3020);
  CHECK_EQ(row(GET, WAIT, 0).ticks, 10);
  CHECK_EQ(row(GET, WAIT, TAKE).ticks, 0);
  end(&a, MPROF_GOT, 3030);
  check_margins();
}

static void woken_by_a_signal(void) {
  static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  const uintptr_t mutex = 0x90040;
  struct mprof_wait a, b;
  struct mprof_release r;
  time_now = 4000;
  cond.__data.__wrefs = 16; // as glibc counts two waiters
  mprof_cond_wait_begin(&a, WAIT, FRAME, (uintptr_t)&cond, mutex);
  time_now = 4010;
  mprof_cond_wait_begin(&b, TAKE, FRAME, (uintptr_t)&cond, mutex);
  time_now = 4100;
  mprof_release_begin(&r, (uintptr_t)&cond, MPROF_WAKES_ONE, PUT, FRAME);
  unlock(FREE, mutex, 4130);
  CHECK_EQ(row(WAIT, FREE, 0).ticks, 30);
  // The other thread returns first. It is taken for the one that has waited
  // longer, in both profiles.
  cond.__data.__wrefs = 8;
  end(&b, MPROF_GOT, 4140);
  check_margins();
  time_now = 4200;
  mprof_release_begin(&r, (uintptr_t)&cond, MPROF_WAKES_ONE, PUT, FRAME);
  unlock(FREE, mutex, 4260);
  CHECK_EQ(row(WAIT, FREE, 0).ticks, 90);
  cond.__data.__wrefs = 0;
  end(&a, MPROF_GOT, 4270);
  check_margins();
}

static void many_stacks(uintptr_t lock) {
  struct mprof_wait w[MPROF_WAITER_STACKS + 3];
  const size_t n = sizeof(w) / sizeof(w[0]);
  for (size_t i = 0; i < n; i++)
    begin(&w[i], 0x10000 + 16 * i, lock, 5000);
  unlock(FREE, lock, 5010);
  // The waiters of further stacks have one row without a waiter, and their
  // waits have rows without a release.
  CHECK_EQ(row(0, FREE, 0).ticks, 30);
  for (size_t i = 0; i < n; i++)
    end(&w[i], MPROF_GOT, 5020);
  check_margins();
}

static void full_table(uintptr_t lock) {
  const uint64_t before = row(0, 0, 0).ticks;
  const size_t rows = mprof_pairs_count();
  for (size_t i = 0; i < MPROF_PAIRS + 10; i++) {
    struct mprof_wait w;
    begin(&w, 0x20000 + 16 * i, lock, 6000);
    unlock(FREE, lock, 6001);
    end(&w, MPROF_GOT, 6001);
  }
  CHECK_EQ(mprof_pairs_count(), MPROF_PAIRS + 1);
  CHECK_EQ(row(0, 0, 0).ticks - before, rows + 10);
}

int main(void) {
  CHECK(mprof_process_ready());
  mprof_clock_set(clock_fn, 1000000000);
  CHECK(mprof_guard_enter());
  mprof_contention_set_block_rate(1);
  mprof_contention_set_mutex_fraction(1);
  mprof_guard_leave();
  two_stacks_wait(0x10040);
  taken_before_the_wait(0x10040);
  notes_end(0x10040);
  woken_by_a_signal();
  many_stacks(0x30040);
  full_table(0x50040);
  return 0;
}
