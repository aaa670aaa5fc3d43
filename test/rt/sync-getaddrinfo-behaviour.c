// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: getaddrinfo returns the same results and data and sets the same errno
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
// CHECK: getaddrinfo: 0, family 1, port 80
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <netdb.h>
#include <netinet/in.h>

static void use_names(void) {
  struct addrinfo hints, *found = NULL;
  memset(&hints, 0, sizeof(hints));
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  int got = getaddrinfo("127.0.0.1", "80", &hints, &found);
  say("getaddrinfo: %d, family %d, port %d", got, found->ai_family == AF_INET,
      ntohs(((struct sockaddr_in *)found->ai_addr)->sin_port));
  freeaddrinfo(found);
  got = getaddrinfo("::1", "80", &hints, &found);
  say("getaddrinfo: %d, family %d", got, found->ai_family == AF_INET6);
  freeaddrinfo(found);
  say("getaddrinfo: %s",
      gai_strerror(getaddrinfo("no number", "80", &hints, &found)));
  say("getaddrinfo: %s",
      gai_strerror(getaddrinfo("127.0.0.1", "http", &hints, &found)));
  say("getaddrinfo: %s", gai_strerror(getaddrinfo(NULL, NULL, &hints, &found)));
  hints.ai_family = 12345;
  say("getaddrinfo: %s",
      gai_strerror(getaddrinfo("127.0.0.1", "80", &hints, &found)));
}

int main(void) {
  use_names();
  say("end");
  return 0;
}
