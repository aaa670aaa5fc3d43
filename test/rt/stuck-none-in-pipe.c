// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a thread is not stuck at a condition whose address is still in a
// pipe, behind other data and at any offset. After the search the pipe has the
// same amount of data as before.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

enum { OTHERS = 3001 };

static int fd[2];

static void *send_gate(void *arg) {
  struct gate *g = make_gate();
  char others[OTHERS] = {0};
  NEED(write(fd[1], others, sizeof(others)) == sizeof(others));
  NEED(write(fd[1], &g, sizeof(g)) == sizeof(g));
  forget_calls();
  return arg;
}

int main(void) {
  struct gate *g;
  char others[OTHERS], none;
  NEED(pipe(fd) == 0);
  apart(make_gate_and_forget, NULL);
  apart(send_gate, NULL);
  NEED(count_stuck() == 1);
  NEED(read(fd[0], others, sizeof(others)) == sizeof(others));
  NEED(read(fd[0], &g, sizeof(g)) == sizeof(g));
  open_gate(g);
  close(fd[1]);
  NEED(read(fd[0], &none, 1) == 0);
  _exit(0);
}
