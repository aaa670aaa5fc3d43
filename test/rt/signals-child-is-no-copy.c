// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal ends the process and MProf writes the files. Meanwhile the
// process forks. The next signal to the child is no copy of the parent's
// signal: it ends the child, which writes its own files.
//
// A thread holds the lock of the writers, because mprof does not
// answer. So the handler of the parent's signal waits for this lock.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: printf '#!/bin/sh\n: > begun\nexec sleep 20' > mprof
// RUN: chmod +x mprof
// RUN: %mprof_clang -fmprof -O1 -g -I%src/test/Inputs %s -o app -pthread
// RUN: %run{heap_rate=1:dump_on_signal=TERM:external_symbolizer_path=./mprof:log_path=p} \
// RUN:   timeout 600 ./app
// RUN: ls p.*.heap.pb.gz | wc -l | grep -qx 1

#include "records.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;

static void *write_names(void *arg) {
  mprof_write_profile("heap", "named.pb.gz", 0);
  return arg;
}

static void end_child(void) {
  sigset_t term;
  sink = malloc(402);
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &term, NULL), 0);
  kill(getpid(), SIGTERM);
  _exit(1); // the signal has not ended the child
}

// Waits until another thread has begun to handle SIGTERM.
static void *fork_then(void *handler) {
  struct sigaction now;
  int status = 0;
  do {
    usleep(1000);
    sigaction(SIGTERM, NULL, &now);
  } while ((void *)now.sa_sigaction == handler);
  const pid_t pid = fork();
  if (pid == 0)
    end_child();
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  _exit(!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM);
}

int main(void) {
  pthread_t t;
  struct sigaction first;
  sigset_t term, before;
  sink = malloc(401);
  sigaction(SIGTERM, NULL, &first);
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  CHECK_EQ(pthread_create(&t, NULL, write_names, NULL), 0);
  while (access("begun", F_OK) != 0)
    usleep(1000);
  CHECK_EQ(pthread_create(&t, NULL, fork_then, (void *)first.sa_sigaction), 0);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  kill(getpid(), SIGTERM);
  pthread_join(t, NULL);
  return 1;
}
