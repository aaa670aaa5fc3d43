// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread is not stuck at a condition whose address only epoll has.
// This also holds if the first thread has ended and the process goes on. The
// kernel then no longer shows the descriptors of the first thread.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

#include <sys/epoll.h>

static int events, fd[2];
static pid_t first;

static void *give_gate_to_epoll(void *arg) {
  struct epoll_event e = {.events = EPOLLIN};
  e.data.ptr = make_gate();
  NEED(epoll_ctl(events, EPOLL_CTL_ADD, fd[0], &e) == 0);
  memset(&e, 0, sizeof(e));
  forget_calls();
  return arg;
}

static char state_of(pid_t tid) {
  char path[64], text[256] = "", *end;
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
  FILE *f = fopen(path, "r");
  NEED(f && fgets(text, sizeof(text), f) && (end = strrchr(text, ')')));
  fclose(f);
  return end[2];
}

static void *go_on(void *arg) {
  struct epoll_event e;
  while (state_of(first) != 'Z')
    usleep(1000);
  apart(make_gate_and_forget, NULL);
  apart(give_gate_to_epoll, NULL);
  NEED(count_stuck() == 1);
  NEED(write(fd[1], "", 1) == 1);
  NEED(epoll_wait(events, &e, 1, -1) == 1);
  open_gate(e.data.ptr);
  _exit(0);
  return arg;
}

int main(void) {
  pthread_t t;
  first = own_tid();
  NEED((events = epoll_create1(0)) >= 0 && pipe(fd) == 0);
  NEED(pthread_create(&t, NULL, go_on, NULL) == 0);
  pthread_exit(NULL);
}
