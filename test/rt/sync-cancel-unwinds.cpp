// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread that is cancelled while it waits runs its destructors and
// its catch-all handlers, with and without MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clangxx -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clangxx -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
//
// CHECK: pthread_cond_wait: inner destroyed, the mutex is held
// CHECK-NEXT: pthread_cond_wait: caught
// CHECK-NEXT: pthread_cond_wait: outer destroyed
// CHECK-NEXT: pthread_cond_wait: cancelled
// CHECK: sem_wait: cancelled
// CHECK: std::condition_variable::wait: cancelled
// CHECK: end

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sync-observe.h"

#include <condition_variable>
#include <mutex>
#include <semaphore.h>
#include <thread>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static std::mutex std_mutex;
static std::condition_variable std_cond;
static std::condition_variable_any std_cond_any;
static sem_t semaphore, never;
static int empty_pipe[2];
static pthread_t sleeper;
static std::thread *std_sleeper;

struct Wait {
  const char *name;
  void (*wait)();
  long number;
};

// Prints when it is destroyed, and whether the mutex is held then.
struct Object {
  const char *name, *place;
  ~Object() {
    int got = pthread_mutex_trylock(&mutex);
    if (got == 0)
      pthread_mutex_unlock(&mutex);
    say("%s: %s destroyed, the mutex is %s", name, place,
        got == EBUSY ? "held" : "free");
  }
};

struct Lock {
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
};

static void in_cond_wait() { pthread_cond_wait(&cond, &mutex); }
static void in_cond_timedwait() {
  timespec late = after(60000);
  pthread_cond_timedwait(&cond, &mutex, &late);
}
static void in_cond_clockwait() {
  timespec late = after_on(CLOCK_MONOTONIC, 60000);
  pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &late);
}
static void in_sem_wait() { sem_wait(&semaphore); }
static void in_sem_timedwait() {
  timespec late = after(60000);
  sem_timedwait(&semaphore, &late);
}
static void in_join() { pthread_join(sleeper, nullptr); }
static void in_std_join() { std_sleeper->join(); }
static void in_std_wait() {
  std::unique_lock<std::mutex> lock(std_mutex);
  std_cond.wait(lock);
}
static void in_std_wait_until() {
  std::unique_lock<std::mutex> lock(std_mutex);
  std_cond.wait_until(lock, std::chrono::system_clock::now() +
                                std::chrono::minutes(1));
}
static void in_std_wait_any() {
  std::unique_lock<std::mutex> lock(std_mutex);
  std_cond_any.wait(lock);
}
static void in_sleep_for() {
  std::this_thread::sleep_for(std::chrono::minutes(1));
}
static void in_read() {
  char c;
  if (read(empty_pipe[0], &c, 1) == 1)
    abort();
}
static void in_usleep() { usleep(60000000); }

static const Wait waits[] = {
    {"pthread_cond_wait", in_cond_wait, SYS_futex},
    {"pthread_cond_timedwait", in_cond_timedwait, SYS_futex},
    {"pthread_cond_clockwait", in_cond_clockwait, SYS_futex},
    {"sem_wait", in_sem_wait, SYS_futex},
    {"sem_timedwait", in_sem_timedwait, SYS_futex},
    {"pthread_join", in_join, SYS_futex},
    {"std::thread::join", in_std_join, SYS_futex},
    {"std::condition_variable::wait", in_std_wait, SYS_futex},
    {"std::condition_variable::wait_until", in_std_wait_until, SYS_futex},
    {"std::condition_variable_any::wait", in_std_wait_any, SYS_futex},
    {"std::this_thread::sleep_for", in_sleep_for, SYS_clock_nanosleep},
    {"read", in_read, SYS_read},
    {"usleep", in_usleep, SYS_clock_nanosleep},
};

static pid_t tid;

__attribute__((noinline)) static void wait_inside(const Wait *w) {
  Lock lock;
  Object inner{w->name, "inner"};
  about_to_wait(&tid);
  w->wait();
  say("%s: came back", w->name);
}

static void *run(void *arg) {
  const Wait *w = static_cast<const Wait *>(arg);
  Object outer{w->name, "outer"};
  try {
    wait_inside(w);
  } catch (...) {
    // Waits once more, as handlers may.
    {
      Lock lock;
    }
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    say("%s: caught", w->name);
    throw;
  }
  return nullptr;
}

// The thread is cancelled before it makes the call.
static pthread_barrier_t cancelled;
static void *run_late(void *) {
  Object outer{"sem_wait, cancelled before", "outer"};
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  pthread_barrier_wait(&cancelled);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  Lock lock;
  Object inner{"sem_wait, cancelled before", "inner"};
  sem_wait(&semaphore);
  say("came back");
  return nullptr;
}

static void *stay(void *) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  sem_wait(&never);
  return nullptr;
}

int main() {
  NEED(sem_init(&semaphore, 0, 0) == 0 && sem_init(&never, 0, 0) == 0);
  NEED(pipe(empty_pipe) == 0);
  NEED(pthread_create(&sleeper, nullptr, stay, nullptr) == 0);
  std_sleeper = new std::thread([] { stay(nullptr); });
  for (const Wait &w : waits) {
    __atomic_store_n(&tid, 0, __ATOMIC_RELEASE);
    pthread_t t;
    void *value;
    NEED(pthread_create(&t, nullptr, run, const_cast<Wait *>(&w)) == 0);
    until_waits_in(&tid, w.number);
    NEED(pthread_cancel(t) == 0);
    NEED(pthread_join(t, &value) == 0);
    say("%s: %s", w.name,
        value == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
  }
  NEED(sem_post(&semaphore) == 0);
  NEED(pthread_barrier_init(&cancelled, nullptr, 2) == 0);
  pthread_t t;
  void *value;
  NEED(pthread_create(&t, nullptr, run_late, nullptr) == 0);
  NEED(pthread_cancel(t) == 0);
  pthread_barrier_wait(&cancelled);
  NEED(pthread_join(t, &value) == 0);
  int left;
  NEED(sem_getvalue(&semaphore, &left) == 0);
  say("%s, the semaphore has %d",
      value == PTHREAD_CANCELED ? "cancelled" : "not cancelled", left);
  NEED(sem_post(&never) == 0 && sem_post(&never) == 0);
  NEED(pthread_join(sleeper, nullptr) == 0);
  if (std_sleeper->joinable())
    std_sleeper->join();
  say("end");
  return 0;
}
