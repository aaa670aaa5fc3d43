// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the calls of the wait family behave with MProf as without it. Their
// results, data and errno do not differ. This also holds if the program is
// compiled with _FORTIFY_SOURCE.
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
// CHECK: waitpid(-1, &status, 0): -1, errno ECHILD
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <sys/resource.h>
#include <sys/wait.h>

static pid_t child;
static void waitpid_child(void *who) {
  SHOW_NUMBER_AS(who, waitpid(child, NULL, 0));
}
static void waitid_child(void *who) {
  siginfo_t info;
  SHOW_NUMBER_AS(who, waitid(P_PID, (id_t)child, &info, WEXITED));
}

static pid_t fork_to_exit(int status) {
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0)
    _exit(status);
  return pid;
}

#define SHOW_CHILD(call)                                                       \
  do {                                                                         \
    errno = UNTOUCHED;                                                         \
    pid_t got_ = (call);                                                       \
    int errno_ = errno;                                                        \
    say_result("", #call, got_ == pid ? "the child" : "another", errno_);      \
  } while (0)

static void use_children(void) {
  int status = 0;
  pid_t pid = fork_to_exit(3);
  SHOW_CHILD(waitpid(pid, &status, 0));
  say("status %d", WEXITSTATUS(status));
  pid = fork_to_exit(4);
  SHOW_CHILD(wait(&status));
  say("status %d", WEXITSTATUS(status));
  pid = fork_to_exit(5);
  struct rusage usage;
  SHOW_CHILD(wait4(pid, &status, 0, &usage));
  say("status %d", WEXITSTATUS(status));
  pid = fork_to_exit(6);
  SHOW_CHILD(wait3(&status, 0, NULL));
  say("status %d", WEXITSTATUS(status));
  pid = fork_to_exit(7);
  siginfo_t info;
  SHOW_NUMBER(waitid(P_PID, (id_t)pid, &info, WEXITED));
  say("the child: %d, status %d", info.si_pid == pid, info.si_status);
  pid = fork_to_exit(8);
  SHOW_CHILD(waitpid(-1, NULL, 0));
  SHOW_NUMBER(waitpid(-1, &status, 0));
  SHOW_NUMBER(waitpid(pid, &status, WNOHANG));
  SHOW_NUMBER(waitpid(pid, &status, 123456));
  SHOW_NUMBER(wait(NULL));
  SHOW_NUMBER(wait4(-1, NULL, 0, NULL));
  SHOW_NUMBER(waitid(P_ALL, 0, &info, WEXITED));
  SHOW_NUMBER(waitid(P_ALL, 0, &info, 0));
  child = pid = fork();
  NEED(pid >= 0);
  if (pid == 0)
    for (;;)
      pause();
  SHOW_NUMBER(waitpid(pid, &status, WNOHANG));
  handle_with(0);
  interrupt(waitpid_child, SYS_wait4);
  interrupt(waitid_child, SYS_waitid);
  NEED(kill(pid, SIGKILL) == 0);
  SHOW_CHILD(waitpid(pid, &status, 0));
  say("signal %d", WTERMSIG(status));
}

int main(void) {
  use_children();
  say("end");
  return 0;
}
