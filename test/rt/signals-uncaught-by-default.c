// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: by default MProf catches no signal. So SIGTERM ends a process that
// waits in vfork for its child. If MProf had a handler, the handler could not
// run before the child has ended.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=x} timeout 600 ./app
// RUN: not ls x.*

#include "records.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int begun[2], end[2];

// Waits in vfork for a child that ends when a byte is written to `end`.
static void wait_for_child(void) {
  char c;
  close(end[1]);
  if (vfork() == 0) {
    write(begun[1], "x", 1);
    _exit(read(end[0], &c, 1) < 0);
  }
  _exit(7);
}

int main(void) {
  char c;
  int status;
  CHECK(pipe(begun) == 0 && pipe(end) == 0);
  pid_t pid = fork();
  if (pid == 0)
    wait_for_child();
  CHECK(read(begun[0], &c, 1) == 1);
  CHECK_EQ(kill(pid, SIGTERM), 0);
  CHECK_EQ(waitpid(pid, &status, 0), pid); // the child of vfork still waits
  CHECK(WIFSIGNALED(status));
  CHECK_EQ(WTERMSIG(status), SIGTERM);
  close(end[1]);
  _exit(0);
}
