// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of locks. KIND is mutex, rdlock or wrlock of pthread, or std for
// std::mutex. Also prints "block N" and "mutex N", the events that MProf has
// recorded.
//
//   pair     an uncontended lock and unlock around the increment of a counter.
//            SLEEPERS is 1 for a process with a second thread, which sleeps:
//            glibc's mutexes then take their longer path.
//   handoff  threads compete for one lock. Each locks, works for about 1 us,
//            unlocks, works for about 0.2 us, and repeats this for a fixed
//            time. With the kind rdlock, the first thread locks for writing.
//            Prints "per_second X", the number of critical sections.
//
// usage: lock pair KIND SLEEPERS PAIRS REPEATS
//        lock handoff KIND THREADS MILLISECONDS REPEATS

#include "bench.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mprof/mprof.h>
#include <mutex>
#include <thread>

// Each object has its own cache line in each variant. If the counter shared a
// line with the lock, the time of a pair would change by 1 ns.
#define OWN_LINE alignas(128)

OWN_LINE static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
OWN_LINE static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
OWN_LINE static std::mutex std_mutex;
OWN_LINE static long counter;

struct Mutex {
  static void lock() { pthread_mutex_lock(&mutex); }
  static void unlock() { pthread_mutex_unlock(&mutex); }
};
struct Wrlock {
  static void lock() { pthread_rwlock_wrlock(&rwlock); }
  static void unlock() { pthread_rwlock_unlock(&rwlock); }
};
struct Rdlock : Wrlock {
  static void lock() { pthread_rwlock_rdlock(&rwlock); }
};
struct Std {
  static void lock() { std_mutex.lock(); }
  static void unlock() { std_mutex.unlock(); }
};

template <typename Lock>
__attribute__((noinline)) static void count(int, long steps, long) {
  Lock lock;
  for (long i = 0; i < steps; i++) {
    std::lock_guard<Lock> guard(lock);
    counter++;
    bench_sink(&counter);
  }
}

// --- handoff ---

// Steps of work inside and outside a critical section.
enum { INSIDE = 850, OUTSIDE = 170 };

static unsigned long work(unsigned long x, int steps) {
  for (int i = 0; i < steps; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x)); // keeps the multiplications sequential
  }
  return x;
}

OWN_LINE static unsigned long guarded;
OWN_LINE static std::atomic<bool> is_over;
static pthread_barrier_t start;
struct OWN_LINE Sections {
  long count;
};
static Sections sections[BENCH_MAX_THREADS]; // of each thread

template <typename Lock> static void play(int thread) {
  const bool reads = std::is_same<Lock, Rdlock>::value;
  unsigned long own = 1;
  Lock lock;
  pthread_barrier_wait(&start);
  while (!is_over.load(std::memory_order_relaxed)) {
    {
      std::lock_guard<Lock> guard(lock);
      if (reads)
        own = work(own + guarded, INSIDE);
      else
        guarded = work(guarded, INSIDE);
    }
    sections[thread].count++;
    own = work(own, OUTSIDE);
  }
  bench_sink(&own);
}

static double contest(void (*first)(int), void (*other)(int), int threads,
                      long milliseconds) {
  std::thread all[BENCH_MAX_THREADS];
  long sum = 0;
  is_over = false;
  for (int i = 0; i < threads; i++) {
    sections[i].count = 0;
    all[i] = std::thread(i == 0 ? first : other, i);
  }
  pthread_barrier_wait(&start);
  const long long begin = bench_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  is_over = true;
  const long long end = bench_now();
  for (int i = 0; i < threads; i++) {
    all[i].join();
    sum += sections[i].count;
  }
  return static_cast<double>(sum) * 1e9 / static_cast<double>(end - begin);
}

// --- the program ---

struct Kind {
  const char *name;
  void (*count)(int, long, long);
  void (*first)(int);
  void (*other)(int);
};
static const Kind kinds[] = {
    {"mutex", count<Mutex>, play<Mutex>, play<Mutex>},
    {"rdlock", count<Rdlock>, play<Wrlock>, play<Rdlock>},
    {"wrlock", count<Wrlock>, play<Wrlock>, play<Wrlock>},
    {"std", count<Std>, play<Std>, play<Std>}};

static void print_events(const char *name,
                         decltype(mprof_block_profile) profile) {
  static mprof_block_record records[4096];
  size_t n = 0;
  long long events = 0;
  if (profile(records, sizeof records / sizeof *records, &n) != 0)
    exit(1);
  for (size_t i = 0; i < n; i++)
    events += records[i].count;
  printf("%s %lld\n", name, events);
}

int main(int argc, char **argv) {
  static bench b;
  const Kind *kind = kinds;
  const long n = bench_arg(argc, argv, 3), size = bench_arg(argc, argv, 4);
  b.repeats = static_cast<int>(bench_arg(argc, argv, 5));
  while (strcmp(kind->name, argv[2]) != 0)
    if (++kind == std::end(kinds))
      return 2;
  if (strcmp(argv[1], "pair") == 0) {
    b.loop = kind->count;
    b.threads = 1;
    b.steps = size;
    if (n > 0)
      bench_start_sleeper();
    bench_run(&b);
  } else {
    if (n < 2 || n > BENCH_MAX_THREADS || size < 1)
      return 2;
    pthread_barrier_init(&start, nullptr, static_cast<unsigned>(n) + 1);
    for (int i = -1; i < b.repeats; i++) { // the first is a warm-up
      const double x =
          contest(kind->first, kind->other, static_cast<int>(n), size);
      if (i >= 0)
        printf("per_second %.1f\n", x);
    }
  }
  print_events("block", mprof_block_profile);
  print_events("mutex", mprof_mutex_profile);
}
