// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread whose events have one stack and many sizes gets the bucket
// of each size, and a larger cache of buckets. A thread with two sizes keeps
// the small cache, however often they replace each other. A later thread with
// the record of an ended one gets the right buckets, too.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <pthread.h>

enum { SIZES = 1000, TURNS = 1000 };

static __attribute__((noinline)) struct mprof_bucket *at(struct mprof_thread *t,
                                                         size_t size) {
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_MEM, .size = size};
  struct mprof_bucket *b =
      mprof_bucket_at(t, &key, 0, (uintptr_t)__builtin_frame_address(0));
  CHECK(b != NULL);
  CHECK_EQ(b->size, size);
  return b;
}

// Looks up `sizes` sizes in turn. Each turn must find the same buckets.
static void look_up(struct mprof_thread *t, size_t sizes, size_t turns) {
  struct mprof_bucket *first[SIZES];
  for (size_t turn = 0; turn < turns; turn++)
    for (size_t i = 0; i < sizes; i++) {
      struct mprof_bucket *b = at(t, 16 * (i + 1));
      if (turn == 0)
        first[i] = b;
      CHECK_EQ(b, first[i]);
    }
}

static size_t used(const struct mprof_thread *t) {
  size_t n = 0;
  for (size_t i = 0; i <= t->sized_mask; i++)
    n += t->sized[i].known != 0;
  return n;
}

static void clear(struct mprof_thread *t) {
  memset(t->sized, 0, (t->sized_mask + 1) * sizeof(*t->sized));
  t->sized_replaced = 0;
}

// Looks up two sizes in turn that share an entry of the cache.
static void take_turns(struct mprof_thread *t) {
  size_t size = 16;
  do {
    size += 16;
    clear(t);
    at(t, 16);
    at(t, size);
  } while (used(t) != 1);
  for (size_t turn = 0; turn < 10; turn++)
    at(t, turn % 2 ? 16 : size);
  CHECK(t->sized_replaced != 0);
  for (size_t turn = 0; turn < TURNS; turn++)
    at(t, turn % 2 ? 16 : size);
  CHECK_EQ(t->sized_mask + 1, MPROF_SIZED_MIN);
}

static struct mprof_thread *many(void) {
  mprof_guard_enter();
  struct mprof_thread *t = mprof_thread_self(true);
  CHECK(t != NULL);
  look_up(t, SIZES, 5);
  CHECK_EQ(t->sized_mask + 1, MPROF_SIZED_MAX);
  mprof_guard_leave();
  return t;
}

static void *run(void *arg) {
  (void)arg;
  return many();
}

static struct mprof_thread *run_thread(void) {
  pthread_t thread;
  void *record = NULL;
  CHECK_EQ(pthread_create(&thread, NULL, run, NULL), 0);
  CHECK_EQ(pthread_join(thread, &record), 0);
  return record;
}

int main(void) {
  mprof_guard_enter();
  struct mprof_thread *t = mprof_thread_self(true);
  CHECK(t != NULL);
  take_turns(t);
  mprof_guard_leave();
  CHECK_EQ(many(), t);
  struct mprof_thread *former = run_thread();
  CHECK_EQ(run_thread(), former);
  return 0;
}
