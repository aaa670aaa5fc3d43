// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helper for tests of signal handlers that interrupt the runtime itself: a
// timer interrupts a thread that reads the heap profile all the time.

#ifndef MPROF_TEST_INPUTS_INTERRUPT_READS_H
#define MPROF_TEST_INPUTS_INTERRUPT_READS_H

#include "records.h"

#include <signal.h>
#include <sys/time.h>

static inline void set_interval(suseconds_t us) {
  const struct itimerval every = {{0, us}, {0, us}};
  NEED(setitimer(ITIMER_REAL, &every, NULL) == 0);
}

// Reads the heap profile until *handled is at least 500. Meanwhile a timer
// raises SIGALRM. The handler adds 1 to *handled.
static inline void interrupt_reads(void (*handler)(int),
                                   const volatile sig_atomic_t *handled) {
  static void *volatile sink;
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = handler;
  NEED(sigaction(SIGALRM, &action, NULL) == 0);
  // A large profile, so that most signals come while it is read.
  for (size_t i = 0; i < 3000; i++)
    free(sink = malloc(10000 + i));
  set_interval(200);
  size_t n;
  while (*handled < 500)
    mprof_mem_profile(NULL, 0, 1, &n), mprof_cycle_post_sweep();
  set_interval(0);
}

#endif // MPROF_TEST_INPUTS_INTERRUPT_READS_H
