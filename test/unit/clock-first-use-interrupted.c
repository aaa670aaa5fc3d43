// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a signal handler that interrupts the first use of the clock can ask
// for the number of ticks per second. It does not wait for the interrupted
// code. Afterwards the clock works.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && timeout 600 %t

#include "core.h"

#include "sys/clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t in_handler;

// The clock reads the time by this function in the middle of its first use.
int clock_gettime(clockid_t id, struct timespec *time) {
  static bool is_interrupted;
  if (!is_interrupted) {
    is_interrupted = true;
    in_handler = mprof_clock_ticks_per_second();
  }
  return (int)syscall(SYS_clock_gettime, id, time);
}

int main(void) {
  const uint64_t ticks = mprof_clock_ticks_per_second();
  if (!mprof_clock_is_counter())
    return 0; // the first use reads no time
  CHECK(in_handler > ticks / 2 && in_handler < ticks * 2);
  return 0;
}
