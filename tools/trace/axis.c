// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "axis.h"

#include "trace.h"

// Converts ticks to nanoseconds since the first event, with the frequency that
// trace_frequency returns now. A trace consists of generations (parts of the
// file), which may have different frequencies. Returns 0 for ticks before the
// first event.
static uint64_t time_of(const struct axis *a, uint64_t ticks) {
  uint64_t ns = (uint64_t)((unsigned __int128)ticks * 1000000000 /
                           trace_frequency(a->trace));
  return ns > a->first ? ns - a->first : 0;
}

uint64_t axis_at(struct axis *a, uint64_t ticks) {
  if (!a->begun) {
    a->begun = true;
    a->first = time_of(a, ticks);
  }
  uint64_t ns = time_of(a, ticks);
  if (ns > a->now)
    a->now = ns;
  return a->now;
}
