// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "axis.h"

#include "trace.h"

// Converts ticks to nanoseconds since the first event, with the frequency that
// trace_frequency returns now. A trace of Go 1.22 or later consists of
// generations (parts of the file), which may have different frequencies. So
// call this function only while the generation of these ticks is being read.
uint64_t axis_time(const struct axis *a, uint64_t ticks) {
  uint64_t ns = (uint64_t)((unsigned __int128)ticks * 1000000000 /
                           trace_frequency(a->trace));
  return ns > a->first ? ns - a->first : 0;
}

uint64_t axis_at(struct axis *a, uint64_t ticks) {
  if (!a->begun) {
    a->begun = true;
    a->first = axis_time(a, ticks);
  }
  uint64_t ns = axis_time(a, ticks);
  if (ns > a->now)
    a->now = ns;
  return a->now;
}
