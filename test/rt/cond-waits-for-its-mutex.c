// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread is signalled while another thread holds the mutex. The
// signalled thread waits twice: for the condition until the signal, then for
// the mutex until the unlock. The block profile has both waits. The mutex
// profile charges the unlock with the second wait of each woken thread.
// Afterwards no thread is left in the runtime's table of waiters.
//
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t 1
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t 3
// RUN: %mprof_clangxx -x c++ -fmprof -O2 -I%src/test/Inputs %s -o %t.cxx
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t.cxx 1
// RUN: %run_quiet{block_rate=1:mutex_fraction=1} %t.cxx 3

#include "waited.h"

#ifdef __cplusplus
#include <condition_variable>
#include <mutex>
static std::mutex mutex;
static std::condition_variable cond;
#define LOCK() mutex.lock()
#define UNLOCK() mutex.unlock()
#else
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
#define LOCK() pthread_mutex_lock(&mutex)
#define UNLOCK() pthread_mutex_unlock(&mutex)
#endif

enum { MOST = 3, UNDER_LOCK_MS = 60 };
static int is_ready;

OWN_CODE(waiter) static void waiter(void *arg) {
  (void)arg;
#ifdef __cplusplus
  std::unique_lock<std::mutex> lock(mutex);
  while (!is_ready)
    cond.wait(lock);
#else
  pthread_mutex_lock(&mutex);
  while (!is_ready)
    pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
#endif
}
DECLARE_CODE(waiter);

OWN_CODE(waker) static void wake(int threads) {
#ifdef __cplusplus
  if (threads == 1)
    cond.notify_one();
  else
    cond.notify_all();
#else
  if (threads == 1)
    pthread_cond_signal(&cond);
  else
    pthread_cond_broadcast(&cond);
#endif
}

OWN_CODE(holder) static void release(void) { UNLOCK(); }
DECLARE_CODE(holder);

static void check(const char *what, struct waited w, double least,
                  double most) {
  if (w.seconds >= least * 0.99 && w.seconds <= most * 1.01 + 1e-4)
    return;
  fprintf(stderr, "%s: %.6f s, expected %.6f to %.6f s\n", what, w.seconds,
          least, most);
  failures++;
}

int main(int argc, char **argv) {
  NEED(argc == 2);
  const int threads = atoi(argv[1]);
  struct thread t[MOST];
  NEED(threads <= MOST);
  double began = now();
  for (int i = 0; i < threads; i++) {
    start(&t[i], waiter, NULL);
    until_waiting(&t[i], &cond, sizeof(cond));
  }
  double asleep = now();
  usleep(HOLD_MS * 1000);
  LOCK();
  is_ready = 1;
  wake(threads);
  double woken = now();
  for (int i = 0; i < threads; i++)
    until_waiting(&t[i], &mutex, sizeof(mutex));
  usleep(UNDER_LOCK_MS * 1000);
  double unlocked = now();
  release();
  for (int i = 0; i < threads; i++)
    finish(&t[i]);
  double end = now();

  const struct code holder = CODE(holder), code = CODE(waiter);
  struct waited charged = waited_in(mprof_mutex_profile, &holder, SECOND);
  struct waited blocked = waited_in(mprof_block_profile, &code, SECOND);
  check("mutex", charged, threads * (unlocked - woken),
        threads * (end - asleep - HOLD_MS / 1e3));
  check("block", blocked, threads * (unlocked - asleep),
        threads * (end - began));
  // Threads that got the mutex one after another may have waited for each
  // other.
  if (charged.count != 1 || blocked.count < 2 * threads) {
    fprintf(stderr, "%lld charges, %lld waits\n", charged.count, blocked.count);
    failures++;
  }
  if (is_waited_for(&mutex) || is_waited_for(&cond)) {
    fprintf(stderr, "somebody is left in the table of waiters\n");
    failures++;
  }
  return failures != 0;
}
