// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a program that handles the signal of the CPU profile itself keeps its
// handler, and gets a message: at a start of the profile, and when it installs
// the handler later. With another signal, both work. Signals of the program
// have their normal effect while the profile is on.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 %s -o app
// RUN: %run{log_path=a} ./app before 2>&1 \
// RUN:   | FileCheck --implicit-check-not=cpu.pb.gz --check-prefix=BEFORE %s
// RUN: %run{log_path=b:cpu_rate=100} ./app later 2>&1 \
// RUN:   | FileCheck --check-prefix=LATER %s
// RUN: %run{log_path=c:cpu_rate=100:cpu_signal=USR2} ./app both 2>&1 \
// RUN:   | FileCheck --check-prefix=BOTH %s
// RUN: %run{log_path=d:cpu_rate=100} not --crash ./app default
//
// BEFORE: Address already in use
// LATER:  mprof: the CPU profile has ended, because the program now handles its
// LATER-SAME: signal itself; choose another one by cpu_signal
// BOTH-NOT: signal itself
// BOTH:     .cpu.pb.gz ({{[0-9]+}} samples

#include <mprof/mprof.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "../Inputs/check.h"
#include "../Inputs/cpu_work.h"

BURNER(work)

static atomic_int signals;

static void on_signal(int sig) {
  (void)sig;
  signals++;
}

static void install(void) {
  const struct itimerval each = {{0, 10000}, {0, 10000}};
  NEED(signal(SIGPROF, on_signal) != SIG_ERR);
  NEED(setitimer(ITIMER_PROF, &each, NULL) == 0);
}

static void await_own_signals(void) {
  const int before = signals;
  while (signals < before + 5)
    work(1);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  work(50);
  if (strcmp(argv[1], "before") == 0) {
    install();
    const int error = mprof_start_cpu_profile(100);
    fprintf(stderr, "%s\n", strerror(error));
    await_own_signals();
  } else if (strcmp(argv[1], "later") == 0) {
    install();
    // Until the runtime has noticed it.
    while (mprof_start_cpu_profile(100) == EBUSY)
      work(1);
    CHECK_EQ(mprof_start_cpu_profile(100), EADDRINUSE);
    await_own_signals();
  } else if (strcmp(argv[1], "both") == 0) {
    install();
    await_own_signals();
    CHECK_EQ(mprof_start_cpu_profile(100), EBUSY);
  } else {
    NEED(kill(getpid(), SIGPROF) == 0);
    for (;;)
      pause();
  }
  return 0;
}
