// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two threads take turns. Each waits for its turn on its own condition
// variable, then signals the other thread's. An event is one turn.
//
// usage: lock_cond EVENTS REPEATS

#include "lock.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns[2] = {PTHREAD_COND_INITIALIZER,
                                  PTHREAD_COND_INITIALIZER};
static int turn; // guarded by mutex

// Each thread has every other event.
static void play(int thread, long events, long arg) {
  (void)arg;
  for (long i = 0; i < events / 2; i++) {
    pthread_mutex_lock(&mutex);
    while (turn != thread)
      pthread_cond_wait(&turns[thread], &mutex);
    turn = !thread;
    pthread_cond_signal(&turns[turn]);
    pthread_mutex_unlock(&mutex);
  }
}

int main(int argc, char **argv) {
  static struct bench b;
  b.loop = play;
  b.threads = 2;
  b.steps = bench_arg(argc, argv, 1);
  b.repeats = (int)bench_arg(argc, argv, 2);
  bench_run(&b);
  lock_print_profiles();
  return 0;
}
