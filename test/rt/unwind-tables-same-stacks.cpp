// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stacks of the profiles and of the trace are the same, whether a
// program is compiled with -fmprof-unwind=frames, with -fmprof-unwind=tables,
// or partly with each. With tables, functions keep no frame pointer. The stacks
// pass through recursion, qsort, std::sort, an exception handler and a function
// with a frame of variable size, and begin in functions that are marked by
// attributes. Each stack has several events. Waits for locks of the runtime
// itself, and for the end of a thread, may differ.
//
// REQUIRES: go
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for way in frames tables; do \
// RUN:   for part in 1 2; do \
// RUN:     %mprof_clangxx -fmprof -fmprof-unwind=$way -std=c++17 -O2 -g1 \
// RUN:       -DPART=$part -I%src/test/Inputs -c %s -o $way$part.o || exit 1; \
// RUN:   done; \
// RUN: done
// RUN: for app in frames1.frames2 tables1.tables2 frames1.tables2 \
// RUN:     tables1.frames2; do \
// RUN:   %mprof_clangxx -fmprof ${app%%.*}.o ${app#*.}.o -o $app || exit 1; \
// RUN:   %run{heap_rate=1:block_rate=1:mutex_fraction=1:threads=1:trace=1:log_path=$app} \
// RUN:     ./$app || exit 1; \
// RUN:   for kind in heap block mutex threads; do \
// RUN:     go tool pprof -tagignore=kind=mprof -traces $app.*.$kind.pb.gz > $kind || exit 1; \
// RUN:     awk -v kind=$kind '/^---/ { if (s ~ "^" kind ";") print s; s = kind; next } \
// RUN:       /^ *[a-z]+: / { next } \
// RUN:       { sub(/ \(inline\)/, ""); s = s ";" $NF } \
// RUN:       END { if (s ~ "^" kind ";") print s }' $kind; \
// RUN:   done > lines; \
// RUN:   %trace_print --no-numbers $app.*.trace | \
// RUN:     sed -n -e 's/^main: UserRegion/trace;/p' >> lines; \
// RUN:   grep -v -e ";mprof_" -e mprof::_Lost -e ";pthread_join;" lines | \
// RUN:     sort -u > $app.stacks; \
// RUN:   diff frames1.frames2.stacks $app.stacks || exit 1; \
// RUN: done
// RUN: FileCheck %s < tables1.tables2.stacks
//
// CHECK-DAG: heap;recurse;recurse;recurse;const*);{{.*}};qsort_r;sort_by_c;main
// CHECK-DAG: heap;{{.*}}recurse;{{.*}};std::sort;sort_by_cxx;main
// CHECK-DAG: heap;catch_and_allocate;main
// CHECK-DAG: heap;{{.*}}recurse;with_array;main
// CHECK-DAG: trace; begin "region" at recurse < recurse < recurse < compare{{.*}} < sort_by_c < main
// CHECK-DAG: trace; end "region" at recurse < {{.*}} < with_array < main
// CHECK-DAG: block;pthread_mutex_lock;wait_for_turn;worker
// CHECK-DAG: mutex;pthread_mutex_unlock;release_turn;main
// CHECK-DAG: threads;pthread_cond_wait;wait_for_end;sleeper
// CHECK-DAG: threads;own_lock;wait_for_own_lock;lock_waiter
// CHECK-DAG: threads;own_block;block;blocker
//
// With tables, the functions have no frame pointer on x86-64. On arm64 they
// have one in any case, because clang keeps it there unless told otherwise.
// RUN: set_up=%if x86_64 %{'rsp, %%rbp'%} %else %{'x29, sp'%}
// RUN: llvm-objdump -d --disassemble-symbols=recurse frames2.o | grep "$set_up"
// RUN: llvm-objdump -d --disassemble-symbols=recurse tables2.o > code
// RUN: grep '<recurse>:' code
// RUN: %if x86_64 %{ not grep "$set_up" code %}

#include "records.h"
#include "sync-observe.h"

#include <mprof/mprof.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>
#include <vector>

extern "C" {
void recurse(int depth);
void catch_and_allocate(int depth);
void with_array(unsigned n);
void wait_for_turn(void);
void release_turn(void);
void wait_for_end(void);
void wait_for_own_lock(void);
void block(void);
extern void *volatile sink;
}

#if PART == 2

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
void *volatile sink;

__attribute__((noinline)) void recurse(int depth) {
  if (depth == 0) {
    mprof_trace_region_begin(0, "region");
    sink = std::malloc(100);
    mprof_trace_region_end(0, "region");
  } else {
    recurse(depth - 1);
  }
  asm volatile("" ::: "memory");
}

__attribute__((noinline)) static void fail(int depth) {
  recurse(depth);
  throw std::runtime_error("expected");
}

__attribute__((noinline)) void catch_and_allocate(int depth) {
  try {
    fail(depth);
  } catch (const std::runtime_error &) {
    sink = std::malloc(200);
  }
  asm volatile("" ::: "memory");
}

__attribute__((noinline)) void with_array(unsigned n) {
  volatile char *array = static_cast<volatile char *>(__builtin_alloca(n));
  array[0] = 1;
  array[n - 1] = 1;
  recurse(static_cast<int>(n % 5));
  asm volatile("" ::: "memory");
}

void wait_for_turn(void) {
  pthread_mutex_lock(&turn);
  asm volatile("" ::: "memory");
}
void release_turn(void) {
  pthread_mutex_unlock(&turn);
  asm volatile("" ::: "memory");
}
// The functions that MProf records by attributes write to the stack where the
// begin entry of the runtime had its frame.
static std::atomic<int> own_word;
__attribute__((noinline)) static void overwrite_stack(void) {
  volatile char bytes[300];
  for (volatile char &byte : bytes)
    byte = 1;
}
extern "C" __attribute__((noinline, mprof_lock(1))) void
own_lock(std::atomic<int> *word) {
  overwrite_stack();
  while (word->exchange(1) != 0)
    usleep(1000);
}
extern "C" __attribute__((noinline, mprof_blocking)) void own_block(void) {
  overwrite_stack();
  for (;;)
    usleep(100000);
}
void wait_for_own_lock(void) {
  own_lock(&own_word);
  own_lock(&own_word);
  asm volatile("" ::: "memory");
}
void block(void) {
  own_block();
  asm volatile("" ::: "memory");
}
void wait_for_end(void) {
  pthread_mutex_lock(&mutex);
  for (;;)
    pthread_cond_wait(&never, &mutex);
}

#else

static int compare(const void *a, const void *b) {
  recurse(2);
  return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

extern "C" {
__attribute__((noinline)) void sort_by_c(void) {
  int v[] = {3, 1, 2};
  std::qsort(v, 3, sizeof(v[0]), compare);
  asm volatile("" : : "r"(v) : "memory");
}

__attribute__((noinline)) void sort_by_cxx(void) {
  std::vector<int> v = {3, 1, 2};
  std::sort(v.begin(), v.end(), [](int a, int b) {
    recurse(3);
    return a < b;
  });
  asm volatile("" : : "r"(v.data()) : "memory");
}

static pid_t tids[4]; // of the threads below
void *worker(void *arg) {
  about_to_wait(&tids[0]);
  wait_for_turn();
  release_turn();
  return arg;
}
void *lock_waiter(void *arg) {
  about_to_wait(&tids[1]);
  wait_for_own_lock();
  return arg;
}
void *blocker(void *arg) {
  about_to_wait(&tids[2]);
  block();
  return arg;
}
void *sleeper(void *arg) {
  about_to_wait(&tids[3]);
  wait_for_end();
  return arg;
}
}

int main(void) {
  pthread_t waiting, sleeping;
  wait_for_turn();
  CHECK_EQ(pthread_create(&waiting, nullptr, worker, nullptr), 0);
  CHECK_EQ(pthread_create(&sleeping, nullptr, sleeper, nullptr), 0);
  pthread_t others[2];
  CHECK_EQ(pthread_create(&others[0], nullptr, lock_waiter, nullptr), 0);
  CHECK_EQ(pthread_create(&others[1], nullptr, blocker, nullptr), 0);
  for (unsigned i = 0; i < 3; i++) {
    sort_by_c();
    sort_by_cxx();
    catch_and_allocate(4);
    with_array(64 + i * 1000); // the depth of the recursion is the same
  }
  for (int i = 0; i < 4; i++)
    until_waits_in(&tids[i],
                   i == 1 || i == 2 ? SYS_clock_nanosleep : SYS_futex);
  release_turn();
  CHECK_EQ(pthread_join(waiting, nullptr), 0);
  return 0;
}

#endif
