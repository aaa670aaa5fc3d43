// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of the tests that print the results of system calls which may block:
// a buffer for data, common timeouts, and a signal that interrupts a call.

#ifndef MPROF_TEST_INPUTS_SYNC_CALLS_H
#define MPROF_TEST_INPUTS_SYNC_CALLS_H

#include "sync-observe.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

static char buffer[100];

// Prints the buffer and clears it.
static inline void say_got(void) {
  say("got \"%.*s\"", (int)sizeof(buffer), buffer);
  memset(buffer, 0, sizeof(buffer));
}

static const struct timespec none = {0, 0}, minute = {60, 0},
                             negative = {0, -1};

// Number of SIGUSR1 handled.
static volatile int handled;
static void handle(int sig) { handled += sig == SIGUSR1; }

// Installs the handler of SIGUSR1 with these flags of sigaction.
static inline void handle_with(int flags) {
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handle;
  sa.sa_flags = flags;
  NEED(sigaction(SIGUSR1, &sa, NULL) == 0);
}

// Sends SIGUSR1 to a thread that is blocked in the call, a system call of this
// number.
static inline void interrupt(void (*call)(void *), long number) {
  struct thread t;
  start(&t, call, "interrupted");
  until_blocked(t.tid, number, NULL, 0);
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  finish(&t);
}

static inline struct msghdr message_of(struct iovec *v) {
  struct msghdr m;
  memset(&m, 0, sizeof(m));
  m.msg_iov = v;
  m.msg_iovlen = 1;
  return m;
}

#endif // MPROF_TEST_INPUTS_SYNC_CALLS_H
