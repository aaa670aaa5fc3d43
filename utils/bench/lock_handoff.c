// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several threads compete for one lock. Each locks, works for about 1 us,
// unlocks, works for about 0.2 us, and repeats this for a fixed time.
//   mutex    all threads lock the mutex
//   rwlock   the first thread locks for writing, the others for reading
// Prints the throughput. For mutex also prints "handoffs N": sections that
// followed a section of another thread. For rwlock also prints "writes N":
// sections of the writer.
//
// usage: lock_handoff mutex|rwlock THREADS MILLISECONDS REPEATS

#include "lock.h"

#include <string.h>

static pthread_mutex_t mutex BENCH_OWN_LINE = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock BENCH_OWN_LINE = PTHREAD_RWLOCK_INITIALIZER;

// Guarded by the lock; written only by a thread that holds it exclusively.
static struct {
  unsigned long work;
  long handoffs;
  int last; // index of the thread that had the previous section
} guarded BENCH_OWN_LINE;

static void play_mutex(struct lock_player *p) {
  unsigned long own = 1;
  while (!lock_is_over(p)) {
    pthread_mutex_lock(&mutex);
    guarded.work = lock_work(guarded.work, LOCK_INSIDE);
    guarded.handoffs += guarded.last != p->index;
    guarded.last = p->index;
    pthread_mutex_unlock(&mutex);
    p->sections++;
    own = lock_work(own, LOCK_OUTSIDE);
  }
  bench_sink(&own);
}

static void write_rwlock(struct lock_player *p) {
  unsigned long own = 1;
  while (!lock_is_over(p)) {
    pthread_rwlock_wrlock(&rwlock);
    guarded.work = lock_work(guarded.work, LOCK_INSIDE);
    pthread_rwlock_unlock(&rwlock);
    p->sections++;
    own = lock_work(own, LOCK_OUTSIDE);
  }
  bench_sink(&own);
}

static void read_rwlock(struct lock_player *p) {
  unsigned long own = 1;
  while (!lock_is_over(p)) {
    pthread_rwlock_rdlock(&rwlock);
    own = lock_work(own + guarded.work, LOCK_INSIDE);
    pthread_rwlock_unlock(&rwlock);
    p->sections++;
    own = lock_work(own, LOCK_OUTSIDE);
  }
  bench_sink(&own);
}

static void play_rwlock(struct lock_player *p) {
  if (p->index == 0)
    write_rwlock(p);
  else
    read_rwlock(p);
}

int main(int argc, char **argv) {
  static struct lock_contest c;
  int is_rwlock = argc > 1 && strcmp(argv[1], "rwlock") == 0;
  c.play = is_rwlock ? play_rwlock : play_mutex;
  c.threads = (int)bench_arg(argc, argv, 2);
  c.milliseconds = bench_arg(argc, argv, 3);
  c.repeats = (int)bench_arg(argc, argv, 4);
  lock_contest_run(&c);
  if (is_rwlock)
    printf("writes %ld\n", c.of_first);
  else
    printf("handoffs %ld\n", guarded.handoffs);
  lock_print_profiles();
  return 0;
}
