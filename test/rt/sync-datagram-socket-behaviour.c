// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: calls that send and receive one or several messages on datagram
// sockets behave with MProf as without it. Their results, data and errno do not
// differ. This also holds if the program is compiled with _FORTIFY_SOURCE.
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
// CHECK: got "datagram"
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static void use_datagrams(void) {
  int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in to, from;
  memset(&to, 0, sizeof(to));
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(to);
  NEED(bind(a, (struct sockaddr *)&to, size) == 0);
  NEED(getsockname(a, (struct sockaddr *)&to, &size) == 0);
  SHOW_NUMBER(sendto(b, "datagram", 8, 0, (struct sockaddr *)&to, size));
  size = sizeof(from);
  SHOW_NUMBER(
      recvfrom(a, buffer, sizeof(buffer), 0, (struct sockaddr *)&from, &size));
  say_got();
  say("size %d, from here: %d", (int)size,
      from.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  SHOW_NUMBER(sendto(b, "", 1, 0, NULL, 0));
  SHOW_NUMBER(connect(b, (struct sockaddr *)&to, sizeof(to)));
  struct iovec out[2] = {{"one", 3}, {"two", 3}};
  struct mmsghdr m[2];
  memset(m, 0, sizeof(m));
  for (int i = 0; i < 2; i++)
    m[i].msg_hdr = message_of(&out[i]);
  SHOW_NUMBER(sendmmsg(b, m, 2, 0));
  struct iovec in[2] = {{buffer, 5}, {buffer + 10, 5}};
  for (int i = 0; i < 2; i++)
    m[i].msg_hdr = message_of(&in[i]);
  SHOW_NUMBER(recvmmsg(a, m, 2, 0, NULL));
  say("got \"%s\", \"%s\"", buffer, buffer + 10);
  memset(buffer, 0, sizeof(buffer));
  SHOW_NUMBER(recvmmsg(a, m, 2, MSG_DONTWAIT, NULL));
  SHOW_NUMBER(sendmmsg(-1, m, 2, 0));
  close(a), close(b);
}

int main(void) {
  use_datagrams();
  say("end");
  return 0;
}
