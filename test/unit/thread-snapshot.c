// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the threadcreate profile has all threads by the stack that created
// them, and the live ones also by name. Live threads whose creation MProf has
// not seen have an empty stack. mprof_thread_create_profile returns one record
// for each thread. A difference of two snapshots has the threads that were
// created in between.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "waits.h"

#include "bucket/bucket.h"
#include "mprof/mprof.h"
#include "snapshot/snapshot.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

static struct {
  const char *name;
  struct mprof_bucket *created;
} threads[6];
static pthread_barrier_t begin, end;

static void enter(struct mprof_bucket *created) {
  mprof_guard_enter();
  struct mprof_thread *t = mprof_thread_self(false);
  CHECK(t != NULL);
  t->created = created;
  mprof_guard_leave();
}

static void *work(void *arg) {
  size_t i = (size_t)arg;
  prctl(PR_SET_NAME, threads[i].name);
  enter(threads[i].created);
  pthread_barrier_wait(&begin);
  pthread_barrier_wait(&end);
  return NULL;
}

static struct mprof_threadcreate_snapshot s;

static void take(bool by_stack) {
  mprof_threadcreate_snapshot_free(&s);
  mprof_guard_enter();
  CHECK_EQ(mprof_threadcreate_snapshot_take(&s, by_stack), 0);
  mprof_guard_leave();
}

// Checks that the snapshot has exactly one such sample.
static void check_sample(const struct mprof_bucket *b, const char *name,
                         uint64_t count, uint64_t live) {
  int found = 0;
  for (size_t i = 0; i < s.len; i++) {
    const struct mprof_threadcreate_sample *x = &s.samples[i];
    bool is_stack = b == NULL ? x->bucket->stack_len == 0 : x->bucket == b;
    if (i > 0)
      CHECK(x[-1].count >= x->count);
    found += is_stack && strcmp(x->name, name) == 0 && x->count == count &&
             x->live == live;
  }
  CHECK_EQ(found, 1);
}

static void check_records(size_t threads_now) {
  size_t n;
  struct mprof_stack_record r[16], poison;
  memset(&poison, 0xff, sizeof(poison));
  for (int i = 0; i < 16; i++)
    r[i] = poison;
  CHECK_EQ(mprof_thread_create_profile(NULL, 0, &n), ERANGE);
  CHECK_EQ(n, threads_now);
  CHECK_EQ(mprof_thread_create_profile(r, n - 1, &n), ERANGE);
  CHECK(memcmp(&r[0], &poison, sizeof(poison)) == 0);
  CHECK_EQ(mprof_thread_create_profile(r, 16, &n), 0);
  CHECK_EQ(n, threads_now);
  CHECK(memcmp(&r[n], &poison, sizeof(poison)) == 0);
  size_t without = 0, from_a = 0;
  for (size_t i = 0; i < n; i++) {
    without += r[i].stack0[0] == 0;
    from_a += r[i].stack0[0] == 0x1000 && r[i].stack0[1] == 0x2000;
    for (int k = 2; k < MPROF_RECORD_STACK; k++)
      CHECK_EQ(r[i].stack0[k], 0);
  }
  CHECK_EQ(without, 2);
  CHECK_EQ(from_a, 7);
}

int main(void) {
  waits_start();
  prctl(PR_SET_NAME, "first");
  enter(NULL);
  struct mprof_bucket *a = thread_bucket(7, (mprof_pc[]){0x1000, 0x2000}, 2);
  struct mprof_bucket *b = thread_bucket(2, (mprof_pc[]){0x3000}, 1);
  struct mprof_bucket *gone = thread_bucket(3, (mprof_pc[]){0x4000}, 1);
  threads[0].name = threads[1].name = "twin";
  threads[2].name = "odd\nname\xc3";
  threads[0].created = threads[1].created = threads[2].created = a;
  threads[3].name = "fifteen-letters";
  threads[4].name = "bee";
  threads[3].created = threads[4].created = b;
  threads[5].name = "stray";
  pthread_barrier_init(&begin, NULL, 7);
  pthread_barrier_init(&end, NULL, 7);
  pthread_t t[6];
  for (size_t i = 0; i < 6; i++)
    pthread_create(&t[i], NULL, work, (void *)i);
  pthread_barrier_wait(&begin);
  errno = 77;

  take(false);
  CHECK_EQ(s.threads, 14);
  CHECK_EQ(s.live, 7);
  CHECK_EQ(s.len, 8);
  check_sample(a, "twin", 2, 2);
  check_sample(a, "odd?name?", 1, 1);
  check_sample(b, "fifteen-letters", 1, 1);
  check_sample(b, "bee", 1, 1);
  check_sample(NULL, "first", 1, 1);
  check_sample(NULL, "stray", 1, 1);
  check_sample(a, "", 4, 0);
  check_sample(gone, "", 3, 0);

  take(true);
  CHECK_EQ(s.threads, 14);
  CHECK_EQ(s.len, 4);
  check_sample(a, "odd?name?", 7, 3);
  check_sample(b, "bee", 2, 2);
  check_sample(gone, "", 3, 0);
  check_sample(NULL, "first", 2, 2);

  check_records(14);
  CHECK_EQ(errno, 77);

  pthread_barrier_wait(&end);
  for (size_t i = 0; i < 6; i++)
    pthread_join(t[i], NULL);
  struct mprof_threadcreate_snapshot before = s, d;
  s = (struct mprof_threadcreate_snapshot){0};
  take(false);
  CHECK_EQ(s.threads, 13); // the stray thread is forgotten
  CHECK_EQ(s.live, 1);
  thread_bucket(5, (mprof_pc[]){0x5000}, 1);
  take(false);
  mprof_guard_enter();
  CHECK_EQ(mprof_threadcreate_snapshot_subtract(&d, &s, &before), 0);
  mprof_guard_leave();
  CHECK_EQ(d.len, 2); // the new threads, and the stray thread less
  mprof_threadcreate_snapshot_free(&before);
  mprof_threadcreate_snapshot_free(&s);
  for (size_t i = 0; i < d.len; i++)
    CHECK_EQ(d.samples[i].count,
             d.samples[i].bucket->stack_len == 0 ? (uint64_t)-1 : 5);
  mprof_threadcreate_snapshot_free(&d);
  return 0;
}
