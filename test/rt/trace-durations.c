// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the pprof profiles that go tool trace makes of a trace show four
// waits with their durations, exact to two percent. The waits are for a lock,
// for a condition, in a read of a pipe and in a recv. The stack of each wait
// has the function that waited. This holds for the trace formats of Go 1.11 and
// Go 1.23.
//
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include %s -o %t
// There are three tries, because another program may run between the moments at
// which the program and the trace read the clock.
// RUN: for f in 1.11 1.23; do for try in 1 2 3; do \
// RUN:   %run_quiet{trace_format=$f} %t %t.trace \
// RUN:     > %t.took && %trace_check -q %t.trace && \
// RUN:   for kind in sync syscall net; do \
// RUN:     %go tool trace -pprof=$kind %t.trace > %t.$kind && \
// RUN:     %go tool pprof -sample_index=delay -unit=ms -traces %t.$kind \
// RUN:       > %t.$kind.txt || exit 1; done && \
// RUN:   %trace_assert durations --within-percent 2 \
// RUN:     --of for_lock,for_condition,for_pipe,for_socket %t.took %t.sync.txt \
// RUN:     %t.syscall.txt %t.net.txt && break; done || exit 1; done

#include <mprof/mprof.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c_m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, ends[2], sockets[2];
static pthread_barrier_t begin;

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void until(double ms) {
  double left = ms - now_ms();
  const struct timespec t = {0, left > 0 ? (long)(left * 1e6) : 0};
  nanosleep(&t, NULL);
}

// Defines a function that prints how long it waited. The program measures that,
// since the machine may be slow to wake a thread.
#define WAIT(name, call)                                                       \
  static __attribute__((noinline)) void name(void) {                           \
    const double before = now_ms();                                            \
    call;                                                                      \
    printf(#name " %.3f\n", now_ms() - before);                                \
  }                                                                            \
  static void *run_##name(void *arg) {                                         \
    pthread_barrier_wait(&begin);                                              \
    name();                                                                    \
    return arg;                                                                \
  }
WAIT(for_lock, pthread_mutex_lock(&m); pthread_mutex_unlock(&m))
WAIT(for_condition, pthread_mutex_lock(&c_m);
     while (!ready) pthread_cond_wait(&c, &c_m); pthread_mutex_unlock(&c_m))
static char byte;
WAIT(for_pipe, if (read(ends[0], &byte, 1) != 1) _exit(2))
WAIT(for_socket, if (recv(sockets[0], &byte, 1, 0) != 1) _exit(2))

int main(int argc, char **argv) {
  void *(*const runs[])(void *) = {run_for_lock, run_for_condition,
                                   run_for_pipe, run_for_socket};
  pthread_t t[4];
  if (argc != 2 || pipe(ends) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
      mprof_trace_start(argv[1]) != 0)
    return 1;
  pthread_barrier_init(&begin, NULL, 5);
  pthread_mutex_lock(&m);
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, runs[i], NULL);
  pthread_barrier_wait(&begin);
  const double start = now_ms();
  until(start + 100);
  pthread_mutex_unlock(&m);
  until(start + 150);
  if (send(sockets[1], "x", 1, 0) != 1)
    return 1;
  until(start + 200);
  if (write(ends[1], "x", 1) != 1)
    return 1;
  until(start + 350);
  pthread_mutex_lock(&c_m);
  ready = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&c_m);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  return mprof_trace_stop();
}
