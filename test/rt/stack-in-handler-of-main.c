// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stack of a handler that has interrupted main has the frame of
// main and of the function that main was calling.
//
// RUN: %mprof_clang -fmprof -O1 -g1 -I%src/test/Inputs %s -o %t
// RUN: %run_quiet timeout 600 %t poll
// RUN: %run_quiet timeout 600 %t raise
// RUN: %run_quiet{threads=1} timeout 600 %t raise

#include "waited.h"

#include <poll.h>
#include <signal.h>
#include <sys/time.h>

static char text[4096];

static void look(int signal) {
  (void)signal;
  mprof_stack(text, sizeof(text), 0);
}

OWN_CODE(of_main) int main(int argc, char **argv) {
  DECLARE_CODE(of_main);
  const struct code own = CODE(of_main);
  const struct itimerval soon = {.it_value = {0, 50000}};
  unsigned frames = 0, of_main = 0;
  signal(SIGALRM, look);
  if (argc > 1 && strcmp(argv[1], "poll") == 0) {
    setitimer(ITIMER_REAL, &soon, NULL);
    poll(NULL, 0, 10000);
  } else {
    raise(SIGALRM);
  }
  for (const char *p = text; (p = strchr(p, '\n')) != NULL;) {
    unsigned long long pc;
    if (sscanf(++p, "0x%llx", &pc) != 1)
      continue;
    frames++;
    of_main += is_in(&own, (uintptr_t)pc);
  }
  // At least the return address of the handler, the function that main called,
  // and main.
  NEED(frames >= 3 && of_main == 1);
  _exit(0);
}
