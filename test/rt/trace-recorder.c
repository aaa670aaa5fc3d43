// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with trace_last_mb=1, the trace of a flight recorder is smaller than
// 2 MB although threads cause events of all kinds. mprof trace check and Go
// accept each snapshot and the trace that is written at exit. These traces have
// the newest events and lack the oldest. With trace_last, they cover only the
// requested time.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o recorder
// RUN: %run_quiet{trace_last_mb=1:log_path=out} ./recorder 600 300
// RUN: %trace_check -q *.trace
// RUN: %if go-1.23 %{ for f in *.trace; do \
// RUN:   %go tool trace -d=parsed $f > /dev/null || exit 1; done %}
// RUN: test $(stat -c %%s out.*.trace) -lt 2097152
// RUN: %trace_print --no-stacks out.*.trace > out.txt
// RUN: FileCheck --implicit-check-not='"round 0,' %s < out.txt
// RUN: rm *.trace
// A busy machine may stop the program for a part of the window. Then a longer
// window is tried.
// RUN: for last in %if !emulated %{200 200 1000%} 2000 8000 32000; do \
// RUN:   rm -f *.trace done && \
// RUN:   %run_quiet{trace_last=}${last}ms:log_path=out \
// RUN:     ./recorder $((last * 4)) 0 slow && \
// RUN:   %trace_check -q *.trace && \
// RUN:   %if !go-1.23 %{true%} %else %{%go tool trace -d=parsed out.*.trace > /dev/null%} \
// RUN:     || exit 1; \
// RUN:   %trace_assert length --ms $((last * 9 / 10)),$((last * 5 / 4)) \
// RUN:     out.*.trace && %trace_print --no-stacks out.*.trace > out.txt && \
// RUN:   FileCheck --implicit-check-not='"round 0,' %s < out.txt && touch done && \
// RUN:   break; done; test -e done
//
// The other format:
// RUN: rm *.trace
// RUN: %run_quiet{trace_last_mb=1:log_path=out:trace_format=1.5} \
// RUN:   ./recorder 300 100
// RUN: for f in *.trace; do %go119 tool trace -d recorder $f > /dev/null || exit 1; done
//
// CHECK-DAG: GoCreate main
// CHECK-DAG: GoCreate run.
// CHECK-DAG: GoCreate wait_long
// CHECK-DAG: GoCreate wait_for_signals
// CHECK-DAG: main: UserLog "key" "the last"

#include <errno.h>
#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int done;
static unsigned pause_every = 64; // rounds
static int ends[2];
// Number of rounds that fill the memory of the recorder several times.
enum { MANY = 200000 };
static unsigned rounds;

static void pause_for(long ns) {
  const struct timespec t = {ns / 1000000000, ns % 1000000000};
  nanosleep(&t, NULL);
}

static void *tiny(void *arg) {
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return arg;
}

static void *run(void *arg) {
  unsigned n = (unsigned)(size_t)arg;
  char text[100];
  while (!done) {
    mprof_trace_region_begin(0, "round");
    pthread_mutex_lock(&m);
    if (n % 16 == 0)
      pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    snprintf(text, sizeof(text), "round %u, with some text to fill it", n);
    mprof_trace_log(0, "key", text);
    if (n % pause_every == 0)
      pause_for(10000);
    if (n % 512 == 3) {
      pthread_t t;
      if (pthread_create(&t, NULL, tiny, NULL) == 0)
        pthread_join(t, NULL);
    }
    mprof_trace_region_end(0, "round");
    n++;
    __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void *wait_for_signals(void *arg) {
  pthread_mutex_lock(&m);
  while (!done)
    pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  return arg;
}

// Waits all the time, in a call that began long before any window.
static void *wait_long(void *arg) {
  char byte;
  return read(ends[0], &byte, 1) == 1 ? arg : NULL;
}

int main(int argc, char **argv) {
  pthread_t t[THREADS + 2];
  if (argc < 3 || pipe(ends) != 0 || mprof_trace_start("x") != EBUSY)
    return 1;
  // A trace that no size limits has eight times as many events otherwise.
  if (argc > 3)
    pause_every = 1;
  const int ms = atoi(argv[1]), every = atoi(argv[2]);
  for (size_t i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, run, (void *)i);
  pthread_create(&t[THREADS], NULL, wait_for_signals, NULL);
  pthread_create(&t[THREADS + 1], NULL, wait_long, NULL);
  const unsigned least = argc > 3 ? 0 : MANY;
  for (int at = 0;
       at < ms || __atomic_load_n(&rounds, __ATOMIC_RELAXED) < least;
       at += 50) {
    pause_for(50000000);
    if (every != 0 && at % every == 0) {
      char path[64];
      snprintf(path, sizeof(path), "snapshot%d.trace", at);
      int error = mprof_trace_snapshot(path);
      if (error != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(error));
        return 1;
      }
    }
  }
  mprof_trace_log(0, "key", "the last");
  done = 1;
  pthread_mutex_lock(&m);
  pthread_cond_broadcast(&c);
  pthread_mutex_unlock(&m);
  if (write(ends[1], "x", 1) != 1)
    return 1;
  for (int i = 0; i < THREADS + 2; i++)
    pthread_join(t[i], NULL);
  return 0;
}
