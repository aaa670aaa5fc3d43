// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: poll, select, epoll and their variants behave with MProf as without
// it. Their results, data and errno do not differ. This also holds if the
// program is compiled with _FORTIFY_SOURCE.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: %mprof_clang -fmprof -O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 \
// RUN:   -pthread -I%src/test/Inputs %s -o checked
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./checked > checked.txt
// RUN: diff plain.txt checked.txt
//
// CHECK: poll(&f, 1, 0): 1
// CHECK: interrupted, poll(&f, 1, 60000): -1, errno EINTR
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static int p[2], epoll;

static void poll_long(void *who) {
  struct pollfd f = {p[0], POLLIN, 0};
  SHOW_NUMBER_AS(who, poll(&f, 1, 60000));
}
static void ppoll_long(void *who) {
  struct pollfd f = {p[0], POLLIN, 0};
  SHOW_NUMBER_AS(who, ppoll(&f, 1, &minute, NULL));
}
static void select_long(void *who) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(p[0], &set);
  struct timeval t = {60, 0};
  SHOW_NUMBER_AS(who, select(p[0] + 1, &set, NULL, NULL, &t));
}
static void pselect_long(void *who) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(p[0], &set);
  SHOW_NUMBER_AS(who, pselect(p[0] + 1, &set, NULL, NULL, &minute, NULL));
}
static void epoll_long(void *who) {
  struct epoll_event e;
  SHOW_NUMBER_AS(who, epoll_wait(epoll, &e, 1, 60000));
}
static void epoll_pwait_long(void *who) {
  struct epoll_event e;
  SHOW_NUMBER_AS(who, epoll_pwait(epoll, &e, 1, 60000, NULL));
}
static void epoll_pwait2_long(void *who) {
  struct epoll_event e;
  SHOW_NUMBER_AS(who, epoll_pwait2(epoll, &e, 1, &minute, NULL));
}

static const struct {
  void (*call)(void *);
  long number;
} polls[] = {
    {poll_long, SYS_poll},
    {ppoll_long, SYS_ppoll},
    {select_long, SYS_pselect6},
    {pselect_long, SYS_pselect6},
    {epoll_long, SYS_epoll_wait},
    {epoll_pwait_long, SYS_epoll_pwait},
    {epoll_pwait2_long, SYS_epoll_pwait2},
};

static void use_polls(void) {
  NEED(pipe(p) == 0);
  struct pollfd f = {p[0], POLLIN, 0};
  fd_set set;
  struct timeval now = {0, 0}, wrong = {-1, 0};
  struct epoll_event e = {EPOLLIN, {.u64 = 1234567890123}};
  epoll = epoll_create1(0);
  NEED(epoll_ctl(epoll, EPOLL_CTL_ADD, p[0], &e) == 0);
  for (int ready = 0; ready < 2; ready++) {
    if (ready)
      NEED(write(p[1], "x", 1) == 1);
    f.revents = 0;
    SHOW_NUMBER(poll(&f, 1, 0));
    say("events %d", f.revents);
    SHOW_NUMBER(poll(&f, 1, 10));
    SHOW_NUMBER(ppoll(&f, 1, &none, NULL));
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    SHOW_NUMBER(select(p[0] + 1, &set, NULL, NULL, &now));
    say("set %d", FD_ISSET(p[0], &set) != 0);
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    SHOW_NUMBER(pselect(p[0] + 1, &set, NULL, NULL, &none, NULL));
    say("set %d", FD_ISSET(p[0], &set) != 0);
    e.data.u64 = 0;
    SHOW_NUMBER(epoll_wait(epoll, &e, 1, 0));
    say("data %llu", (unsigned long long)e.data.u64);
    e.data.u64 = 0;
    SHOW_NUMBER(epoll_pwait(epoll, &e, 1, 10, NULL));
    say("data %llu", (unsigned long long)e.data.u64);
    SHOW_NUMBER(epoll_pwait2(epoll, &e, 1, &none, NULL));
    if (ready)
      NEED(read(p[0], buffer, 1) == 1);
  }
  memset(buffer, 0, sizeof(buffer));
  // A timeout that passes; select counts it down.
  struct timeval soon = {0, 10000};
  SHOW_NUMBER(select(0, NULL, NULL, NULL, &soon));
  say("left %ld %ld", (long)soon.tv_sec, (long)soon.tv_usec);
  f.fd = 999;
  SHOW_NUMBER(poll(&f, 1, 0));
  say("events %d", f.revents);
  f.fd = -1;
  SHOW_NUMBER(poll(&f, 1, 0));
  SHOW_NUMBER(poll(NULL, 0, 0));
  struct pollfd *volatile of_unknown_size = &f;
  SHOW_NUMBER(poll(of_unknown_size, 0xffffffff, 0));
  SHOW_NUMBER(ppoll(&f, 1, &negative, NULL));
  SHOW_NUMBER(select(-1, NULL, NULL, NULL, &now));
  SHOW_NUMBER(select(0, NULL, NULL, NULL, &wrong));
  SHOW_NUMBER(pselect(0, NULL, NULL, NULL, &negative, NULL));
  SHOW_NUMBER(epoll_wait(epoll, &e, 0, 0));
  SHOW_NUMBER(epoll_wait(-1, &e, 1, 0));
  SHOW_NUMBER(epoll_wait(p[0], &e, 1, 0));
  handle_with(SA_RESTART); // does not restart these calls
  for (size_t i = 0; i < sizeof(polls) / sizeof(polls[0]); i++) {
    if (polls[i].call == epoll_pwait2_long && is_emulated())
      continue; // the emulator does not know this call
    interrupt(polls[i].call, polls[i].number);
    struct thread t;
    start(&t, polls[i].call, "waited");
    until_blocked(t.tid, polls[i].number, NULL, 0);
    NEED(write(p[1], "x", 1) == 1);
    finish(&t);
    NEED(read(p[0], buffer, 1) == 1);
  }
  // A signal that is unblocked only inside the call.
  sigset_t blocked, old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  NEED(pthread_sigmask(SIG_BLOCK, &blocked, &old) == 0);
  NEED(raise(SIGUSR1) == 0);
  SHOW_NUMBER(ppoll(NULL, 0, &minute, &old));
  NEED(raise(SIGUSR1) == 0);
  SHOW_NUMBER(pselect(0, NULL, NULL, NULL, &minute, &old));
  NEED(raise(SIGUSR1) == 0);
  SHOW_NUMBER(epoll_pwait(epoll, &e, 1, 60000, &old));
  NEED(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
  close(epoll), close(p[0]), close(p[1]);
}

int main(void) {
  use_polls();
  say("end");
  return 0;
}
