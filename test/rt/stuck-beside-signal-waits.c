// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: threads that wait for signals, as in sigwait or pause, are in the
// threads profile as waiting, and they are not stuck. MProf still finds other
// threads that are stuck beside them.
//
// RUN: %mprof_clang -fmprof -O1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet{stuck=1} timeout 600 %t

#include "gates.h"

#include <signal.h>

static sigset_t set;
static pid_t tids[5];

static void *wait_for_signal(void *arg) {
  const long i = (long)arg;
  const struct timespec long_time = {3600, 0};
  int signal;
  about_to_wait(&tids[i]);
  switch (i) {
  case 0:
    sigwait(&set, &signal);
    break;
  case 1:
    sigwaitinfo(&set, NULL);
    break;
  case 2:
    sigtimedwait(&set, NULL, &long_time);
    break;
  case 3:
    pause();
    break;
  default:
    sigsuspend(&set);
  }
  return NULL;
}

int main(void) {
  static char text[1 << 16];
  static const char *const names[] = {"sigwait", "sigwaitinfo", "sigtimedwait",
                                      "pause", "sigsuspend"};
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  NEED(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
  apart(make_gate_and_forget, NULL);
  for (long i = 0; i < 5; i++) {
    pthread_t t;
    NEED(pthread_create(&t, NULL, wait_for_signal, (void *)i) == 0);
    until_waits_in(&tids[i], i < 3    ? SYS_rt_sigtimedwait
                             : i == 3 ? SYS_pause
                                      : SYS_rt_sigsuspend);
  }
  NEED(count_stuck() == 1);
  NEED(mprof_stack(text, sizeof(text), 1) > 0);
  for (int i = 0; i < 5; i++) {
    char in[32];
    snprintf(in, sizeof(in), "[%s]:", names[i]);
    NEED(strstr(text, in) != NULL);
  }
  _exit(0);
}
