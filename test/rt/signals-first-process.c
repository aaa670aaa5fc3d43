// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the kernel protects the first process of a container from SIGTERM
// with the default action. With dump_on_signal this process writes the files at
// the signal, continues, and writes again at exit.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: %run{heap_rate=1:dump_on_signal=TERM:log_path=x} timeout 600 ./app
// RUN: test -e none || test $(ls x.1.*heap.pb.gz | wc -l) = 3

#include "records.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;

int main(int argc, char **argv) {
  int status;
  if (argc > 1) {
    CHECK_EQ(getpid(), 1);
    sink = malloc(401);
    CHECK(raise(SIGTERM) == 0 && raise(SIGTERM) == 0);
    return 3;
  }
  if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
    return open("none", O_CREAT | O_WRONLY, 0600) < 0; // it is not allowed here
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // if the time is over
    execl(argv[0], argv[0], "first", NULL);
    _exit(1);
  }
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 3);
  return 0;
}
