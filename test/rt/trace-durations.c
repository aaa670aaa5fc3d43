// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the pprof profiles that go tool trace makes of a trace show four
// waits with their durations, exact to two percent: not less than the thread
// was seen to wait, and not more than its call took. The waits are for a lock,
// for a condition, in a read of a pipe and in a recv. The stack of each wait
// has the function that waited.
//
// REQUIRES: go-1.23
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/include -I%src/test/Inputs %s -o %t
// RUN: %run_quiet %t %t.trace > %t.took && %trace_check -q %t.trace
// RUN: for kind in sync syscall net; do \
// RUN:   %go tool trace -pprof=$kind %t.trace > %t.$kind && \
// RUN:   %go tool pprof -sample_index=delay -unit=ms -traces %t.$kind \
// RUN:     > %t.$kind.txt || exit 1; done
// RUN: %trace_assert durations --within-percent 2 \
// RUN:   --of for_lock,for_condition,for_pipe,for_socket %t.took %t.sync.txt \
// RUN:   %t.syscall.txt %t.net.txt

#define _GNU_SOURCE
#include "sync-observe.h"

#include <mprof/mprof.h>
#include <sys/socket.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c_m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, ends[2], sockets[2];

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// The waits. The machine may be slow to let a thread run, so the program
// measures how long each wait must have lasted at least, and at most.
enum { LOCK, CONDITION, PIPE, SOCKET, WAITS };
static pid_t tids[WAITS];
static double seen[WAITS], least[WAITS], most[WAITS];

// Defines a function that measures how long its call took.
#define WAIT(name, number, call)                                               \
  static __attribute__((noinline)) void name(void) {                           \
    const double before = now_ms();                                            \
    about_to_wait(&tids[number]);                                              \
    call;                                                                      \
    most[number] = now_ms() - before;                                          \
  }                                                                            \
  static void *run_##name(void *arg) {                                         \
    name();                                                                    \
    return arg;                                                                \
  }
WAIT(for_lock, LOCK, pthread_mutex_lock(&m); pthread_mutex_unlock(&m))
WAIT(for_condition, CONDITION, pthread_mutex_lock(&c_m);
     while (!ready) pthread_cond_wait(&c, &c_m); pthread_mutex_unlock(&c_m))
static char byte;
WAIT(for_pipe, PIPE, if (read(ends[0], &byte, 1) != 1) _exit(2))
WAIT(for_socket, SOCKET, if (recv(sockets[0], &byte, 1, 0) != 1) _exit(2))

// Lets the wait go on for ms milliseconds.
static void last(int number, long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
  least[number] = now_ms() - seen[number];
}

int main(int argc, char **argv) {
  void *(*const runs[WAITS])(void *) = {run_for_lock, run_for_condition,
                                        run_for_pipe, run_for_socket};
  static const char *const names[WAITS] = {"for_lock", "for_condition",
                                           "for_pipe", "for_socket"};
  static const long calls[WAITS] = {SYS_futex, SYS_futex, SYS_read,
                                    SYS_recvfrom};
  pthread_t t[WAITS];
  if (argc != 2 || pipe(ends) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
      mprof_trace_start(argv[1]) != 0)
    return 1;
  pthread_mutex_lock(&m);
  for (int i = 0; i < WAITS; i++)
    pthread_create(&t[i], NULL, runs[i], NULL);
  for (int i = 0; i < WAITS; i++) {
    until_waits_in(&tids[i], calls[i]);
    seen[i] = now_ms();
  }
  last(LOCK, 100);
  pthread_mutex_unlock(&m);
  last(SOCKET, 50);
  if (send(sockets[1], "x", 1, 0) != 1)
    return 1;
  last(PIPE, 50);
  if (write(ends[1], "x", 1) != 1)
    return 1;
  last(CONDITION, 150);
  pthread_mutex_lock(&c_m);
  ready = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&c_m);
  for (int i = 0; i < WAITS; i++)
    pthread_join(t[i], NULL);
  for (int i = 0; i < WAITS; i++)
    printf("%s %.3f %.3f\n", names[i], least[i], most[i]);
  return mprof_trace_stop();
}
