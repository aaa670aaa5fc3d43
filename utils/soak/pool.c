// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pool of threads takes jobs from a queue. While the queue is empty, the
// threads wait for a condition. Every other round makes a new pool. Between two
// rounds all threads sleep for a while. A read-write lock guards the results.

#include "soak.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 6, JOBS = 200 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_job = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int jobs, undone, must_end; // guarded by lock
static pthread_rwlock_t results_lock = PTHREAD_RWLOCK_INITIALIZER;
static unsigned long sum; // guarded by results_lock

static int take_job(void) {
  pthread_mutex_lock(&lock);
  while (jobs == 0 && !must_end)
    pthread_cond_wait(&has_job, &lock);
  const int job = jobs > 0 ? jobs-- : 0;
  pthread_mutex_unlock(&lock);
  return job;
}

static void *work(void *arg) {
  for (int job; (job = take_job()) != 0;) {
    const unsigned long result = soak_work((unsigned long)job);
    pthread_rwlock_wrlock(&results_lock);
    sum += result;
    pthread_rwlock_unlock(&results_lock);
    pthread_mutex_lock(&lock);
    if (--undone == 0)
      pthread_cond_signal(&all_done);
    pthread_mutex_unlock(&lock);
  }
  return arg;
}

static pthread_t threads[THREADS];

static void start_pool(void) {
  must_end = 0;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0)
      exit(1);
}

static void end_pool(void) {
  pthread_mutex_lock(&lock);
  must_end = 1;
  pthread_cond_broadcast(&has_job);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static int do_jobs(void) {
  static unsigned long expected;
  pthread_mutex_lock(&lock);
  sum = 0;
  jobs = undone = JOBS;
  pthread_cond_broadcast(&has_job);
  while (undone > 0)
    pthread_cond_wait(&all_done, &lock);
  pthread_mutex_unlock(&lock);
  pthread_rwlock_rdlock(&results_lock);
  const unsigned long result = sum;
  pthread_rwlock_unlock(&results_lock);
  if (expected == 0)
    for (int i = 1; i <= JOBS; i++)
      expected += soak_work((unsigned long)i);
  return result == expected;
}

static int round_of_pool(void) {
  start_pool();
  int is_right = do_jobs();
  usleep(20000);
  is_right = do_jobs() && is_right;
  end_pool();
  return is_right;
}

int main(int argc, char **argv) { return soak_run(argc, argv, round_of_pool); }
