// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: read and write on pipes behave with MProf as without it, also if a
// signal interrupts or restarts the call. Their results, data and errno do not
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
// CHECK: interrupted, read(p[0], c, 1): -1, errno EINTR
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <fcntl.h>

static int p[2], full[2];

static void read_pipe(void *who) {
  char c[1];
  SHOW_NUMBER_AS(who, read(p[0], c, 1));
}
static void readv_pipe(void *who) {
  char c;
  struct iovec v = {&c, 1};
  SHOW_NUMBER_AS(who, readv(p[0], &v, 1));
}
static void write_pipe(void *who) {
  SHOW_NUMBER_AS(who, write(full[1], "", 1));
}
static void writev_pipe(void *who) {
  struct iovec v = {"", 1};
  SHOW_NUMBER_AS(who, writev(full[1], &v, 1));
}

static void use_pipes(void) {
  NEED(pipe(p) == 0 && pipe2(full, O_NONBLOCK) == 0);
  SHOW_NUMBER(read(full[0], buffer, 1));
  while (write(full[1], buffer, sizeof(buffer)) == sizeof(buffer))
    ;
  while (write(full[1], "", 1) == 1)
    ;
  SHOW_NUMBER(write(full[1], "", 1));
  NEED(fcntl(full[1], F_SETFL, 0) == 0);
  handle_with(0);
  interrupt(read_pipe, SYS_read);
  interrupt(readv_pipe, SYS_readv);
  interrupt(write_pipe, SYS_write);
  interrupt(writev_pipe, SYS_writev);
  handle_with(SA_RESTART);
  handled = 0;
  struct thread t;
  start(&t, read_pipe, "started again");
  until_blocked(t.tid, SYS_read, NULL, 0);
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  while (!handled)
    usleep(100);
  until_blocked(t.tid, SYS_read, NULL, 0);
  NEED(write(p[1], "", 1) == 1);
  finish(&t);
  handle_with(0);
  start(&t, read_pipe, "waited");
  until_blocked(t.tid, SYS_read, NULL, 0);
  close(p[1]); // end of file
  finish(&t);
  NEED(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
  close(full[0]);
  SHOW_NUMBER(write(full[1], "", 1));
  close(full[1]), close(p[0]);
}

int main(void) {
  use_pipes();
  say("end");
  return 0;
}
