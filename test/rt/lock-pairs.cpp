// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: in a program whose threads contend for mutexes, rwlocks, spin locks
// and recursive locks, wait for conditions, time out and end, and in a forked
// child, the profile locks adds up to the block profile by waiter and to the
// mutex profile by release. mprof locks shows each pair with its lock, also
// while lock_order uses the same list of held locks.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clangxx -fmprof -O1 -g -I%src/test/Inputs %s -o app
// RUN: %run{block_rate=1:mutex_fraction=1:log_path=x} ./app
// RUN: %run{block_rate=1:mutex_fraction=1:lock_order=1:log_path=order} ./app
// RUN: %mprof locks -n 0 order.*.locks.pb.gz \
// RUN:   | FileCheck %s --check-prefix=ORDER
// RUN: for f in x.*.locks.pb.gz; do p=${f%%.locks.pb.gz}; \
// RUN:   %python %S/../Inputs/lock_margins.py $p.block.pb.gz $p.mutex.pb.gz $f \
// RUN:     || exit 1; echo checked; done > margins
// RUN: test $(grep -c checked margins) = 2
// RUN: %mprof locks -n 0 x.*.locks.pb.gz | FileCheck %s
// RUN: %mprof locks -n 0 --format=json x.*.locks.pb.gz > pairs.json
// RUN: %python %src/test/tool/Inputs/check_json.py %src/docs/mprof.schema.json \
// RUN:   locks < pairs.json
//
// CHECK: who waited for whom
// CHECK-DAG: slow_holder lock-pairs.cpp:{{[0-9]+}} {{.*}} mutex table
// CHECK-DAG: timed lock-pairs.cpp:{{[0-9]+}} not seen mutex table
// CHECK-DAG: rwlock rw ({{0x[0-9a-f]+}}), reader
// ORDER: lock-pairs.cpp:{{[0-9]+ -> [0-9]+}} mutex

#include "waited.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static std::mutex queue;
static std::condition_variable filled;
static std::shared_mutex rw;
static std::recursive_mutex again;
static pthread_spinlock_t spin;
static int items, sum;

static void work() {
  for (volatile int i = 0; i < 2000; i++)
    ;
  sched_yield();
}

NOINLINE static void reader() {
  std::shared_lock<std::shared_mutex> l(rw);
  work();
}
NOINLINE static void writer() {
  std::unique_lock<std::shared_mutex> l(rw);
  work();
}
NOINLINE static void nested() {
  std::lock_guard<std::recursive_mutex> outer(again);
  std::lock_guard<std::recursive_mutex> inner(again);
  work();
}
NOINLINE static void spins() {
  pthread_spin_lock(&spin);
  sum++;
  pthread_spin_unlock(&spin);
}
NOINLINE static void produce() {
  std::lock_guard<std::mutex> l(queue);
  items++;
  filled.notify_one();
  work();
}
NOINLINE static void consume() {
  std::unique_lock<std::mutex> l(queue);
  filled.wait(l, [] { return items > 0; });
  items--;
}
NOINLINE static void consume_slowly() {
  std::unique_lock<std::mutex> l(queue);
  filled.wait(l, [] { return items > 0; });
  items--;
  work();
}
NOINLINE static void tries() {
  if (pthread_mutex_trylock(&table) == 0) {
    work();
    pthread_mutex_unlock(&table);
  }
}
NOINLINE static void timed() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if (pthread_mutex_timedlock(&table, &t) == 0)
    pthread_mutex_unlock(&table);
}
NOINLINE static void slow_holder() {
  pthread_mutex_lock(&table);
  work();
  pthread_mutex_unlock(&table);
}

static void round(int id) {
  for (int i = 0; i < 100; i++) {
    slow_holder();
    id % 2 ? reader() : writer();
    nested();
    spins();
    tries();
    if (id < 2)
      produce();
    else
      id == 2 ? consume() : consume_slowly();
  }
}

// Waits longer than the thread that holds the lock until it is over.
static void time_out() {
  pthread_mutex_lock(&table);
  std::thread([] { timed(); }).join();
  pthread_mutex_unlock(&table);
}

static void run() {
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; id++)
    threads.emplace_back(round, id);
  for (std::thread &t : threads)
    t.join();
  time_out();
}

// A thread waits for the table, a writer for a reader, and a reader for a
// writer.
static void contend() {
  pthread_mutex_lock(&table);
  std::thread t(slow_holder);
  until_waited_for(&table);
  pthread_mutex_unlock(&table);
  t.join();
  std::shared_lock<std::shared_mutex> l(rw);
  std::thread u(writer);
  until_waited_for(&rw);
  l.unlock();
  u.join();
  std::unique_lock<std::shared_mutex> m(rw);
  std::thread v(reader);
  until_waited_for(&rw);
  m.unlock();
  v.join();
}

int main() {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  contend();
  run();
  const pid_t child = fork();
  if (child == 0) {
    contend();
    run();
    return 0;
  }
  int status;
  return waitpid(child, &status, 0) != child || status != 0;
}
