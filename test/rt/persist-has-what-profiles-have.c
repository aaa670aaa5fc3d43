// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof recover makes the same profiles of a killed process as the
// process itself: heap, heapx, the peak, mapped memory, waits with labels and
// names of locks, and a profile of the program. Created threads have no names.
// Stacks, values, labels and mappings are equal. A forked child has a file of
// its own, also with the labels and the lock of its parent. Only the times of
// waits differ by the measured speed of the clock.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -pthread -I%src/include -I%src/test/Inputs %s -o app
// RUN: not --crash env MPROF_OPTIONS=heap_rate=1:heapx=1:peak=1:block_rate=1:mutex_fraction=1:persist=p.%%e:symbolize=0 ./app
// RUN: %mprof recover p.app -o r && %mprof recover p.app.1 -o rc
// RUN: %python %S/Inputs/compare_recovered.py app.heap r.heap.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py app.heapx r.heapx.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py app.peak r.peak.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py app.mmap r.mmap.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py app.block r.block.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py app.mutex r.mutex.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py app.sessions r.sessions.pb.gz
// RUN: %python %src/test/Inputs/mprof_read.py r.threadcreate.pb.gz \
// RUN:   | grep -c '^sample: 1 : 0x' | grep -x 2
// RUN: %python %S/Inputs/compare_recovered.py child.heap rc.heap.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py child.heapx rc.heapx.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py child.peak rc.peak.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py child.mmap rc.mmap.pb.gz
// RUN: %python %S/Inputs/compare_recovered.py child.mutex rc.mutex.pb.gz
// RUN: %python %src/test/Inputs/mprof_read.py rc.mutex.pb.gz | FileCheck %s
// CHECK: sample: {{.*}}lock=ledger (0x{{.*}}request=invoice
// RUN: %mprof top r.heap.pb.gz | FileCheck %s --check-prefix=TOP
// TOP: KiB{{.*}}leaf  {{.*}}persist-has-what-profiles-have.c

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

__attribute__((noinline)) static void *leaf(size_t n) {
  void *p = malloc(n);
  __asm__ volatile("" : : "r"(p));
  return p;
}

// Some blocks are temporary, some are resized, and the most memory is in use in
// the middle.
__attribute__((noinline)) static void work(int i) {
  static void *kept[500];
  void *p = leaf((size_t)(100 + i % 5));
  if (i % 3 == 0)
    p = realloc(p, 2000);
  if (i < 500)
    kept[i] = p;
  else
    free(kept[i - 500]);
  if (i >= 500 && i % 2)
    free(p);
}

static void *hold(void *arg) {
  pthread_mutex_lock(&lock);
  pthread_barrier_wait(&both);
  until_main_waits(&lock, sizeof(lock));
  pthread_mutex_unlock(&lock);
  return arg;
}

static void contend(void) {
  pthread_t t;
  pthread_create(&t, NULL, hold, NULL);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
}

static void write_all(const char *who) {
  static const char *const names[] = {"heap",         "block",    "mutex",
                                      "threadcreate", "sessions", "heapx",
                                      "peak",         "mmap"};
  for (int i = 0; i < 8; i++) {
    char path[64];
    snprintf(path, sizeof(path), "%s.%s", who, names[i]);
    if (mprof_write_profile(names[i], path, 0) != 0)
      abort();
  }
}

static void map(size_t pages) {
  char *p =
      mmap(NULL, 4096 * pages, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || munmap(p, 4096) != 0)
    abort();
}

static void all(const char *who) {
  map(3);
  for (int i = 0; i < 1000; i++)
    work(i);
  contend();
  write_all(who);
  kill(getpid(), SIGKILL);
}

int main(void) {
  struct mprof_profile *sessions;
  pthread_barrier_init(&both, NULL, 2);
  mprof_name_lock(&lock, "ledger");
  mprof_label_set("request", "invoice");
  mprof_profile_new("sessions", &sessions);
  mprof_profile_add(sessions, 1, 0);
  mprof_profile_add(sessions, 2, 0);
  mprof_profile_remove(sessions, 1);
  contend();
  map(7);
  if (fork() == 0)
    all("child");
  wait(NULL);
  all("app");
  return 0;
}
