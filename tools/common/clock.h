// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time for durations and deadlines, which no change of the clock affects.

#ifndef MPROF_TOOLS_CLOCK_H
#define MPROF_TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static inline int64_t clock_now_ms(void) { return clock_now_us() / 1000; }

#endif
