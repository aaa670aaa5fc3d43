// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the signal by which the threads profile gets a thread's stack never
// makes a system call fail with EINTR. This holds for calls that begin and end
// while profiles are taken. It also holds for the first profile of a process,
// which finds waits that MProf has not recorded. Other threads keep the
// processors busy then.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{threads=1} %t 1
// RUN: %run_quiet{threads=1:threads_stop=1} %t 1
// RUN: %run_quiet %t 1 first
// RUN: %run_quiet{threads_stop=1} %t 1 first

#include "waited.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int may_end, waits;
static long wait_ms; // length of each wait
static int epoll, sockets[2], sem_set;
static sem_t semaphore;

static void in_poll(void) { NEED(poll(NULL, 0, (int)wait_ms) == 0); }
static void in_select(void) {
  struct timeval t = {0, wait_ms * 1000};
  NEED(select(0, NULL, NULL, NULL, &t) == 0);
}
static void in_epoll_wait(void) {
  struct epoll_event e;
  NEED(epoll_wait(epoll, &e, 1, (int)wait_ms) == 0);
}
static void in_nanosleep(void) {
  struct timespec t = {0, wait_ms * 1000000};
  NEED(nanosleep(&t, NULL) == 0);
}
static void in_usleep(void) { NEED(usleep((useconds_t)wait_ms * 1000) == 0); }
static void in_recv(void) { // not restarted, as it has a timeout
  char byte;
  NEED(recv(sockets[0], &byte, 1, 0) == -1 && errno == EAGAIN);
}
static void in_sem_timedwait(void) {
  struct timespec t = after((int)wait_ms);
  NEED(sem_timedwait(&semaphore, &t) == -1 && errno == ETIMEDOUT);
}
static void in_semtimedop(void) {
  struct timespec t = {0, wait_ms * 1000000};
  struct sembuf op = {0, -1, 0};
  NEED(semtimedop(sem_set, &op, 1, &t) == -1 && errno == EAGAIN);
}
static void in_futex(void) {
  static int word;
  struct timespec t = {0, wait_ms * 1000000};
  NEED(syscall(SYS_futex, &word, 0, 0, &t) == -1 && errno == ETIMEDOUT);
}

static void (*const calls[])(void) = {
    in_poll, in_select,        in_epoll_wait, in_nanosleep, in_usleep,
    in_recv, in_sem_timedwait, in_semtimedop, in_futex,
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

// Runs for up to some tens of microseconds. The thread may be found running and
// then begin a wait when the signal is on its way.
static void compute(unsigned *state) {
  *state = *state * 1664525 + 1013904223;
  for (volatile unsigned i = *state >> 16 & 0x7fff; i > 0; i--)
    ;
}

static void *work(void *arg) {
  void (*const *call)(void) = arg;
  unsigned state = (unsigned)(uintptr_t)arg;
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED)) {
    __atomic_add_fetch(&waits, 1, __ATOMIC_RELAXED);
    compute(&state);
    (*call)();
  }
  return NULL;
}

static void *load(void *arg) {
  while (!__atomic_load_n(&may_end, __ATOMIC_RELAXED))
    ;
  return arg;
}

enum { LOADS = 3, MOST = CALLS + LOADS + 1 };

// Takes profiles while threads begin and end waits and while they are in waits.
static void wait_and_profile(int loads, int profiles) {
  pthread_t t[MOST];
  struct mprof_stack_record r[MOST];
  size_t n, threads = 0;
  may_end = waits = 0;
  for (int i = 0; i < CALLS; i++)
    NEED(pthread_create(&t[threads++], NULL, work, (void *)&calls[i]) == 0);
  for (int i = 0; i < loads; i++)
    NEED(pthread_create(&t[threads++], NULL, load, NULL) == 0);
  while (__atomic_load_n(&waits, __ATOMIC_RELAXED) < CALLS)
    usleep(1000);
  for (int i = 0; i < profiles; i++) {
    NEED(mprof_thread_profile(r, MOST, &n) == 0 && n == threads + 1);
    if (i % 4 == 0)
      usleep(500);
  }
  __atomic_store_n(&may_end, 1, __ATOMIC_RELAXED);
  for (size_t i = 0; i < threads; i++)
    NEED(pthread_join(t[i], NULL) == 0);
}

// Runs in a child, as a process has only one first profile.
static void profile_in_child(void) {
  int status;
  const pid_t child = fork();
  NEED(child >= 0);
  if (child == 0) {
    wait_and_profile(LOADS, 2);
    _exit(0);
  }
  NEED(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv) {
  NEED(argc >= 2);
  wait_ms = atol(argv[1]);
  NEED((epoll = epoll_create1(0)) >= 0);
  NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  struct timeval timeout = {0, wait_ms * 1000};
  NEED(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &timeout,
                  sizeof(timeout)) == 0);
  NEED(sem_init(&semaphore, 0, 0) == 0);
  NEED((sem_set = semget(IPC_PRIVATE, 1, 0600)) >= 0);
  if (argc == 2)
    wait_and_profile(0, 400);
  for (int i = 0; argc > 2 && i < 20; i++)
    profile_in_child();
  semctl(sem_set, 0, IPC_RMID);
  return 0;
}
