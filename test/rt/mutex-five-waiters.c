// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an unlock that five threads waited for is charged with the wait times
// of all five. In the block profile, each of the five threads has its own time
// at its own stack.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t

#include "waited.h"

enum { WAITERS = 5, HOLD_SECONDS = 1 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define WAITER(n)                                                              \
  OWN_CODE(waiter##n) static void waiter##n(void *arg) {                       \
    (void)arg;                                                                 \
    pthread_mutex_lock(&mutex);                                                \
    pthread_mutex_unlock(&mutex);                                              \
  }                                                                            \
  DECLARE_CODE(waiter##n);
WAITER(0)
WAITER(1)
WAITER(2)
WAITER(3)
WAITER(4)

OWN_CODE(holder) static void release(void) { pthread_mutex_unlock(&mutex); }
DECLARE_CODE(holder);

int main(void) {
  const struct code waiters[] = {CODE(waiter0), CODE(waiter1), CODE(waiter2),
                                 CODE(waiter3), CODE(waiter4)};
  void (*const run[])(void *) = {waiter0, waiter1, waiter2, waiter3, waiter4};
  struct thread t[WAITERS];
  double began[WAITERS], least, most, sum = 0;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < WAITERS; i++) {
    began[i] = now();
    start_waiting(&t[i], run[i], NULL, &mutex, sizeof(mutex));
  }
  least = now();
  usleep(HOLD_SECONDS * 1000000);
  least = now() - least;
  release();
  double end = now();
  for (int i = 0; i < WAITERS; i++)
    finish(&t[i]);
  for (int i = 0; i < WAITERS; i++)
    sum += most = end - began[i];

  // On an idle machine the five seconds are right within some milliseconds.
  // They are compared with the real duration of the hold.
  const struct code holder = CODE(holder);
  check_waited(
      "holder", "mutex", waited_in(mprof_mutex_profile, &holder, SECOND),
      (struct expected){1, (void *)pthread_mutex_unlock, WAITERS * least, sum});
  // The holder woke the first thread that got the lock. The last one also
  // waited for the other four, some microseconds each, as they are woken at
  // different times.
  for (int i = 0; i < WAITERS; i++) {
    most = now() - began[i];
    check_waited(waiters[i].name, "block",
                 waited_in(mprof_block_profile, &waiters[i], SECOND),
                 (struct expected){1, (void *)pthread_mutex_lock, least, most});
  }
  return failures != 0;
}
