// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with dump_on_signal=terminate+crash, HUP, INT, TERM and signals of
// fatal errors, such as SEGV, write the files before they end the process. The
// process ends by the same signal as without the option. Signals that the
// program handles or ignores are left to the program without a message.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -D_GNU_SOURCE -I%src/test/Inputs %s -o app
// RUN: for how in HUP INT TERM ABRT BUS FPE ILL SEGV TRAP; do \
// RUN:   %run{heap_rate=1:dump_on_signal=terminate+crash:log_path=$how} \
// RUN:     %python %S/Inputs/ends_by.py $how ./app $how 2> err.$how || exit 1; \
// RUN:   grep -c . err.$how | grep -qx 1 || exit 1; \
// RUN:   ls $how.*.heap.pb.gz $how.*.txt || exit 1; \
// RUN: done
//
// RUN: %run{heap_rate=1:dump_on_signal=terminate,crash:log_path=own} \
// RUN:   ./app own 2> err
// RUN: grep -c . err | grep -qx 1 && ls own.*.heap.pb.gz | wc -l | grep -qx 1
//
// RUN: %run{heap_rate=1:dump_on_signal=none:log_path=none} \
// RUN:   %python %S/Inputs/ends_by.py TERM ./app TERM 2> err
// RUN: not grep . err && not ls none.*

#include "records.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t handled;
static void own(int sig) { handled += sig; }

// Runs before the runtime starts.
static void early(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "own") == 0) {
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, own);
  }
}
__attribute__((section(".preinit_array"),
               used)) static void (*at)(int, char **) = early;

static void *volatile sink;

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int signal;
  } all[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"TERM", SIGTERM},
             {"ABRT", SIGABRT}, {"BUS", SIGBUS},   {"FPE", SIGFPE},
             {"ILL", SIGILL},   {"SEGV", SIGSEGV}, {"TRAP", SIGTRAP}};
  CHECK(argc == 2);
  sink = malloc(401);
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
    if (strcmp(argv[1], all[i].name) == 0)
      raise(all[i].signal);
  CHECK_STR(argv[1], "own");
  raise(SIGHUP);
  raise(SIGTERM);
  CHECK_EQ(handled, SIGTERM);
  return 0;
}
