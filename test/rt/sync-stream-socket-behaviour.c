// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: calls that send and receive on stream sockets behave with MProf as
// without it, also if a message carries a file descriptor. Their results, data
// and errno do not differ. This also holds if the program is compiled with
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
// CHECK: recv(sockets[0], buffer, 3, MSG_PEEK): 3
// CHECK-NEXT: got "str"
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

static int sockets[2];

static void recv_one(void *who) {
  char c[1];
  SHOW_NUMBER_AS(who, recv(sockets[0], c, 1, 0));
}
static void recvfrom_one(void *who) {
  char c[1];
  SHOW_NUMBER_AS(who, recvfrom(sockets[0], c, 1, 0, NULL, NULL));
}
static void recvmsg_one(void *who) {
  struct iovec v = {buffer, 1};
  struct msghdr m = message_of(&v);
  SHOW_NUMBER_AS(who, recvmsg(sockets[0], &m, 0));
}

static void use_streams(void) {
  SHOW_NUMBER(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
  SHOW_NUMBER(send(sockets[1], "stream", 6, 0));
  SHOW_NUMBER(recv(sockets[0], buffer, 3, MSG_PEEK));
  say_got();
  SHOW_NUMBER(recv(sockets[0], buffer, sizeof(buffer), 0));
  say_got();
  SHOW_NUMBER(recv(sockets[0], buffer, 1, MSG_DONTWAIT));
  SHOW_NUMBER(recvfrom(sockets[0], buffer, 1, MSG_DONTWAIT, NULL, NULL));
  SHOW_NUMBER(recv(-1, buffer, 1, 0));
  SHOW_NUMBER(send(-1, "", 1, 0));
  SHOW_NUMBER(recvfrom(-1, buffer, 1, 0, NULL, NULL));
  SHOW_NUMBER(sendto(-1, "", 1, 0, NULL, 0));
  handle_with(0);
  interrupt(recv_one, SYS_recvfrom);
  interrupt(recvfrom_one, SYS_recvfrom);
  interrupt(recvmsg_one, SYS_recvmsg);
  struct thread t;
  start(&t, recv_one, "waited");
  until_blocked(t.tid, SYS_recvfrom, NULL, 0);
  NEED(send(sockets[1], "", 1, 0) == 1);
  finish(&t);
  // The message carries a file descriptor.
  char control[CMSG_SPACE(sizeof(int))];
  memset(control, 0, sizeof(control));
  struct iovec v = {"fd", 2};
  struct msghdr m = message_of(&v);
  m.msg_control = control;
  m.msg_controllen = sizeof(control);
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(c), &sockets[1], sizeof(int));
  SHOW_NUMBER(sendmsg(sockets[1], &m, 0));
  memset(control, 0, sizeof(control));
  v.iov_base = buffer;
  SHOW_NUMBER(recvmsg(sockets[0], &m, 0));
  c = CMSG_FIRSTHDR(&m);
  say("a file came: %d", c && c->cmsg_type == SCM_RIGHTS);
  if (c) {
    int came;
    memcpy(&came, CMSG_DATA(c), sizeof(came));
    close(came);
  }
  say_got();
  SHOW_NUMBER(sendmsg(-1, &m, 0));
  SHOW_NUMBER(recvmsg(-1, &m, 0));
  close(sockets[1]);
  SHOW_NUMBER(recv(sockets[0], buffer, 1, 0));
  SHOW_NUMBER(send(sockets[0], "", 1, MSG_NOSIGNAL));
  close(sockets[0]);
}

int main(void) {
  use_streams();
  say("end");
  return 0;
}
