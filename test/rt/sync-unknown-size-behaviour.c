// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: calls whose size argument is unknown at compile time behave with
// MProf as without it. Their results, data and errno do not differ. This also
// holds for the checking functions that such calls become with _FORTIFY_SOURCE.
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
// CHECK: read(p[0], buffer, five): 5
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <fcntl.h>
#include <poll.h>

static int p[2], sockets[2];

// Sizes that the compiler does not know are checked by functions of the C
// library.
static void use_unknown_sizes(void) {
  volatile size_t five = 5, one = 1;
  NEED(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  struct pollfd f[1] = {{p[0], POLLIN, 0}};
  SHOW_NUMBER(poll(f, one, 0));
  SHOW_NUMBER(ppoll(f, one, &none, NULL));
  SHOW_NUMBER(write(p[1], "fifth column", five));
  SHOW_NUMBER(poll(f, one, -1));
  SHOW_NUMBER(ppoll(f, one, NULL, NULL));
  SHOW_NUMBER(read(p[0], buffer, five));
  say_got();
  SHOW_NUMBER(send(sockets[1], "fifth column", 12, 0));
  SHOW_NUMBER(recv(sockets[0], buffer, five, 0));
  say_got();
  SHOW_NUMBER(recvfrom(sockets[0], buffer, five, 0, NULL, NULL));
  say_got();
  int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  NEED(file >= 0 && pwrite(file, "hello world", 11, 0) == 11);
  SHOW_NUMBER(pread(file, buffer, five, 6));
  say_got();
  SHOW_NUMBER(read(-1, buffer, five));
  SHOW_NUMBER(recv(-1, buffer, five, 0));
  SHOW_NUMBER(recvfrom(-1, buffer, five, 0, NULL, NULL));
  close(file), close(p[0]), close(p[1]), close(sockets[0]), close(sockets[1]);
}

int main(void) {
  use_unknown_sizes();
  say("end");
  return 0;
}
