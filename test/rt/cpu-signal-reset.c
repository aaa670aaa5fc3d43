// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that resets its signals while the CPU profile is on does
// not end by a signal of the profile, also in a forked child, and a handler of
// the program gets no signal of the profile. The program sees the actions that
// it has set, and a signal without a handler still ends the process.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=a:cpu_rate=1000} ./app
// RUN: %run{log_path=b:cpu_rate=1000} not --crash ./app end
// RUN: %clang -O2 -g1 -pthread -I%src/include %s -o plain
// RUN: %mprof run -q -o c -O cpu_rate=1000 ./plain

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(work)

static atomic_int others;

static void on_signal(int sig, siginfo_t *info, void *context) {
  (void)sig, (void)context;
  others += info->si_code == SI_TIMER;
}

static void reset_all(void) {
  for (int i = 1; i < NSIG; i++)
    signal(i, SIG_DFL);
  work(100);
}

static void fork_and_reset(void) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    reset_all();
    _exit(0);
  }
  NEED(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
}

static void handle(void) {
  struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  struct sigaction old;
  CHECK_EQ(sigaction(SIGPROF, &act, &old), 0);
  CHECK(old.sa_handler == SIG_DFL);
  work(100);
  CHECK_EQ(sigaction(SIGPROF, NULL, &old), 0);
  CHECK(old.sa_sigaction == on_signal);
  CHECK_EQ(others, 0);
  CHECK(signal(SIGPROF, SIG_IGN) == (void (*)(int))on_signal);
  work(20);
  CHECK(signal(SIGPROF, SIG_DFL) == SIG_IGN);
}

int main(int argc, char **argv) {
  (void)argv;
  struct sigaction now;
  work(20);
  CHECK_EQ(sigaction(SIGPROF, NULL, &now), 0);
  CHECK(now.sa_handler == SIG_DFL);
  fork_and_reset();
  reset_all();
  handle();
  work(100);
  if (argc > 1)
    NEED(raise(SIGPROF) == 0);
  return 0;
}
