// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mutex loops of lock_pair.c and lock_handoff.c with std::mutex and
// std::lock_guard.
//
// usage: lock_std none|mutex SLEEPERS PAIRS REPEATS
//        lock_std handoff THREADS MILLISECONDS REPEATS

#include "lock.h"

#include <cstring>
#include <mutex>

static std::mutex mutex BENCH_OWN_LINE;
static long counter BENCH_OWN_LINE;

static inline void add() {
  counter++;
  bench_sink(&counter);
}

extern "C" {
__attribute__((noinline)) void count_none(int, long steps, long) {
  for (long i = 0; i < steps; i++)
    add();
}

__attribute__((noinline)) void count_mutex(int, long steps, long) {
  for (long i = 0; i < steps; i++) {
    std::lock_guard<std::mutex> guard(mutex);
    add();
  }
}
}

// Guarded by mutex.
static struct {
  unsigned long work;
  long handoffs;
  int last;
} guarded;

static void play(lock_player *p) {
  unsigned long own = 1;
  while (!lock_is_over(p)) {
    {
      std::lock_guard<std::mutex> guard(mutex);
      guarded.work = lock_work(guarded.work, LOCK_INSIDE);
      guarded.handoffs += guarded.last != p->index;
      guarded.last = p->index;
    }
    p->sections++;
    own = lock_work(own, LOCK_OUTSIDE);
  }
  bench_sink(&own);
}

static void run_handoff(int argc, char **argv) {
  static lock_contest c;
  c.play = play;
  c.threads = static_cast<int>(bench_arg(argc, argv, 2));
  c.milliseconds = bench_arg(argc, argv, 3);
  c.repeats = static_cast<int>(bench_arg(argc, argv, 4));
  lock_contest_run(&c);
  printf("handoffs %ld\n", guarded.handoffs);
}

static void run_pair(int argc, char **argv) {
  static bench b;
  b.loop = std::strcmp(argv[1], "mutex") == 0 ? count_mutex : count_none;
  b.threads = 1;
  b.steps = bench_arg(argc, argv, 3);
  b.repeats = static_cast<int>(bench_arg(argc, argv, 4));
  if (bench_arg(argc, argv, 2) > 0)
    lock_start_sleeper();
  bench_run(&b);
}

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "handoff") == 0)
    run_handoff(argc, argv);
  else if (argc > 1)
    run_pair(argc, argv);
  lock_print_profiles();
}
