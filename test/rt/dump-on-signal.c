// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: dump_on_signal writes the profile and then lets the signal have its
// usual effect. The process ends by the signal, or the program's own handler
// runs with the signal's original siginfo_t. This also works on the smallest
// alternate stack, in abort, and in a thread. Without the option MProf catches
// no signal.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -fno-mprof-intercept -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: for how in SEGV ABRT TERM USR1 FPE; do \
// RUN:   %run{heap_rate=1:log_path=$how:dump_on_signal=$how:format=1} \
// RUN:     %python %S/Inputs/ends_by.py $how ./app $how 2> err.$how || exit 1; \
// RUN:   grep -q "mprof: wrote $how.[0-9]*.heap.txt (1 sample, 1 stack)" err.$how \
// RUN:     || exit 1; \
// RUN:   grep -q "1: 401 \[1: 401\]" $how.*.heap.txt || exit 1; \
// RUN: done
//
// Two signals, by number and by name.
// RUN: %run{heap_rate=1:log_path=two:dump_on_signal=15+SIGTERM+SIGHUP} \
// RUN:   %python %S/Inputs/ends_by.py HUP ./app HUP 2> err
// RUN: grep -q "mprof: wrote two." err
// RUN: %run{dump_on_signal=ABRT,SIGHUP,heap_rate=1,log_path=comma} \
// RUN:   %python %S/Inputs/ends_by.py HUP ./app HUP 2> err
// RUN: grep -q "mprof: wrote comma.[0-9]*.heap.pb.gz (1 sample" err
// RUN: %run{heap_rate=1:log_path=twice:dump_on_signal=15+TERM} \
// RUN:   %python %S/Inputs/ends_by.py TERM ./app TERM 2> err
// RUN: ls twice.*.heap.pb.gz | wc -l | grep -qx 1
//
// A signal that comes inside the profiler is delayed, not lost.
// RUN: %run{heap_rate=1:log_path=busy:dump_on_signal=ALRM} \
// RUN:   %python %S/Inputs/ends_by.py ALRM ./app busy 2> err
// RUN: grep -q "mprof: wrote busy." err
//
// The option names another signal, or none.
// RUN: %run{heap_rate=1:log_path=none:dump_on_signal=INT} \
// RUN:   %python %S/Inputs/ends_by.py SEGV ./app SEGV
// RUN: %run{heap_rate=1:log_path=none} \
// RUN:   %python %S/Inputs/ends_by.py TERM ./app default
// RUN: not ls none.*
//
// The program goes on after its own handler, and writes again at exit.
// RUN: %run{heap_rate=1:log_path=own:dump_on_signal=USR2} ./app own
// RUN: ls own.*.heap.pb.gz | wc -l | grep -qx 2
// RUN: ls own.*.20*T*.heap.pb.gz
//
// The program also goes on after signals whose default action ends no process.
// Each of these signals writes the files.
// RUN: %run{heap_rate=1:log_path=on:dump_on_signal=URG+WINCH+CONT+CHLD} \
// RUN:   ./app harmless 2> err && ls on.*.heap.pb.gz | wc -l | grep -qx 5
// RUN: grep -c 'mprof: wrote on.*heap.pb.gz (1 sample' err | grep -x 5
//
// RUN: %run{dump_on_signal=FOO+9+99:log_path=x} ./app 2> err
// RUN: grep -q "dump_on_signal: unknown signal 'FOO'" err
// RUN: grep -q "dump_on_signal: signal '9' cannot be caught" err
// RUN: grep -q "dump_on_signal: unknown signal '99'" err

#include "records.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void *volatile sink;
static volatile sig_atomic_t handled;

static void own(int sig, siginfo_t *info, void *context) {
  (void)context;
  handled = sig == SIGUSR2 && info->si_pid == getpid() &&
            info->si_value.sival_int == 77;
}

// Runs before the runtime starts.
static void early(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], "own") != 0)
    return;
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_sigaction = own;
  sa.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &sa, NULL);
}
__attribute__((section(".preinit_array"),
               used)) static void (*at)(int, char **) = early;

static int overflow(volatile char *above) {
  volatile char page[4096];
  page[0] = above[0];
  return page[0] + overflow(page);
}

static void *in_thread(void *arg) {
  volatile char c = 1;
  stack_t small = {.ss_sp = malloc(401), .ss_size = 0};
  static char other[2048 + 4096]; // the kernel's frame, and a little more
  small.ss_sp = other;
  small.ss_size = sizeof(other);
  CHECK(sigaltstack(&small, NULL) == 0);
  overflow(&c);
  return arg;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "SEGV") == 0) {
    pthread_t t;
    pthread_create(&t, NULL, in_thread, NULL);
    pthread_join(t, NULL);
  }
  sink = malloc(401);
  if (strcmp(how, "default") == 0) {
    struct sigaction sa;
    for (int s = 1; s < 32; s++)
      CHECK(sigaction(s, NULL, &sa) != 0 || sa.sa_handler == SIG_DFL ||
            sa.sa_handler == SIG_IGN);
    raise(SIGTERM);
  }
  if (strcmp(how, "ABRT") == 0)
    abort();
  if (strcmp(how, "TERM") == 0)
    kill(getpid(), SIGTERM);
  if (strcmp(how, "HUP") == 0)
    kill(getpid(), SIGHUP);
  if (strcmp(how, "USR1") == 0)
    raise(SIGUSR1);
  if (strcmp(how, "FPE") == 0) {
    volatile int zero = 0;
    return 100 / zero;
  }
  if (strcmp(how, "busy") == 0) {
    size_t n;
    for (size_t i = 0; i < 3000; i++)
      free(sink = malloc(10000 + i));
    ualarm(20000, 0);
    for (;;)
      mprof_mem_profile(NULL, 0, 1, &n);
  }
  if (strcmp(how, "harmless") == 0)
    CHECK(raise(SIGURG) == 0 && raise(SIGWINCH) == 0 && raise(SIGCONT) == 0 &&
          raise(SIGCHLD) == 0);
  if (strcmp(how, "own") == 0) {
    sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 77});
    CHECK(handled);
  }
  return 0;
}
