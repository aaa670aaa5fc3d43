// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: connect and accept return the same results and set the same errno
// with MProf as without it. This also holds if the program is compiled with
// _FORTIFY_SOURCE.
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
// CHECK: accept(listening, NULL, NULL): -1, errno EAGAIN
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/un.h>

static int listening;

static void accept_one(void *who) {
  SHOW_NUMBER_AS(who, accept(listening, NULL, NULL));
}
static void accept4_one(void *who) {
  SHOW_NUMBER_AS(who, accept4(listening, NULL, NULL, SOCK_CLOEXEC));
}
static void accept_waiting(void *unused) {
  (void)unused;
  struct sockaddr_in peer;
  socklen_t size = sizeof(peer);
  int got = accept(listening, (struct sockaddr *)&peer, &size);
  NEED(got >= 0);
  say("accepted, size %d, family %d", (int)size, peer.sin_family == AF_INET);
  NEED(write(got, "welcome", 7) == 7);
  close(got);
}

static void use_connections(void) {
  struct sockaddr_in to;
  memset(&to, 0, sizeof(to));
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(to);
  listening = socket(AF_INET, SOCK_STREAM, 0);
  NEED(bind(listening, (struct sockaddr *)&to, size) == 0);
  NEED(listen(listening, 5) == 0);
  NEED(getsockname(listening, (struct sockaddr *)&to, &size) == 0);
  handle_with(0);
  interrupt(accept_one, SYS_accept);
  interrupt(accept4_one, SYS_accept4);
  struct thread t;
  start(&t, accept_waiting, NULL);
  until_blocked(t.tid, SYS_accept, NULL, 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  NEED(connect(fd, (struct sockaddr *)&to, size) == 0);
  finish(&t);
  SHOW_NUMBER(recv(fd, buffer, 7, MSG_WAITALL));
  say_got();
  SHOW_NUMBER(connect(fd, (struct sockaddr *)&to, size)); // connected already
  close(fd);
  NEED(fcntl(listening, F_SETFL, O_NONBLOCK) == 0);
  SHOW_NUMBER(accept(listening, NULL, NULL));
  SHOW_NUMBER(accept4(listening, NULL, NULL, 0));
  SHOW_NUMBER(accept(-1, NULL, NULL));
  SHOW_NUMBER(accept4(listening, NULL, NULL, 123456789));
  close(listening);
  fd = socket(AF_INET, SOCK_STREAM, 0);
  SHOW_NUMBER(connect(fd, (struct sockaddr *)&to, size)); // no listener
  close(fd);
  SHOW_NUMBER(connect(-1, (struct sockaddr *)&to, size));
  struct sockaddr_un nowhere = {AF_UNIX, "nowhere"};
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  SHOW_NUMBER(connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)));
  close(fd);
}

int main(void) {
  use_connections();
  say("end");
  return 0;
}
